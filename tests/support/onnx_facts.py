"""What a model file stores, read from the file itself: the tests never take Octet's word for it."""

import math
from pathlib import Path

import onnx
from onnx import TensorProto, helper

FLOAT_BYTES = {TensorProto.FLOAT: 4, TensorProto.FLOAT16: 2, TensorProto.DOUBLE: 8, TensorProto.BFLOAT16: 2}
SMALL_BITS = {TensorProto.INT8: 8, TensorProto.UINT8: 8, TensorProto.INT4: 4, TensorProto.UINT4: 4}

# Operators and which of their inputs are scales. Mul has one too where it follows integers (see scale_names).
SCALE_INPUTS = {
    "DequantizeLinear": [1],
    "QuantizeLinear": [1],
    "MatMulNBits": [2],
    "GatherBlockQuantized": [2],
    "DynamicQuantizeLSTM": [8, 10],
    "DynamicQuantizeMatMul": [2],
    "MatMulIntegerToFloat": [2, 3],
    "QAttention": [3, 4],
    "QGemm": [1, 4, 7],
    "QEmbedLayerNormalization": [8, 9, 10, 11, 12],
}
INTEGER_OPERATORS = {
    "ConvInteger",
    "MatMulInteger",
    "MatMulIntegerToFloat",
    "DynamicQuantizeMatMul",
    "DynamicQuantizeLSTM",
    "QGemm",
    "QAttention",
    "MatMulNBits",
}
LAYOUT = {"Cast", "Sub", "Transpose", "Reshape", "Gather", "Unsqueeze", "Squeeze", "Identity", "Flatten", "Slice"}


def graphs(model):
    """Every list of nodes with its initializers: the main graph, nested subgraphs, function bodies."""

    def nested(nodes):
        for node in nodes:
            for attribute in node.attribute:
                for graph in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                    yield from of(graph.node, graph.initializer)

    def of(nodes, initializers):
        yield nodes, initializers
        yield from nested(nodes)

    yield from of(model.graph.node, model.graph.initializer)
    for function in model.functions:
        yield from of(function.node, [])


def nodes(model):
    return [node for group, _ in graphs(model) for node in group]


def stored_tensors(model):
    """Name and tensor of each initializer and of each Constant node (under its output's name)."""
    for group, initializers in graphs(model):
        for tensor in initializers:
            yield tensor.name, tensor
        for node in group:
            for attribute in node.attribute if node.op_type == "Constant" else []:
                if attribute.HasField("t"):
                    yield node.output[0], attribute.t
                elif attribute.name in ("value_float", "value_floats"):
                    values = list(attribute.floats) or [attribute.f]
                    yield node.output[0], helper.make_tensor(node.output[0], TensorProto.FLOAT, [len(values)], values)


def elements(tensor):
    return math.prod(tensor.dims)


def float_bytes_by_name(model):
    found = {}
    for name, tensor in stored_tensors(model):
        if tensor.data_type in FLOAT_BYTES:
            found[name] = found.get(name, 0) + elements(tensor) * FLOAT_BYTES[tensor.data_type]
    return found


def float_elements(model):
    return sum(elements(t) for _, t in stored_tensors(model) if t.data_type in FLOAT_BYTES)


def small_integer_bytes(model):
    return sum(
        (elements(t) * SMALL_BITS[t.data_type] + 7) // 8 for _, t in stored_tensors(model) if t.data_type in SMALL_BITS
    )


def scale_names(model):
    """Stored tensors that are scales of quantized ones."""
    stored = dict(stored_tensors(model))
    maker = {output: node for node in nodes(model) for output in node.output}

    def holds_integers(name):
        """A stored small integer, or the result of an integer operator, seen through casts and layout."""
        node = maker.get(name)
        if node is None or node.op_type == "Constant":
            return name in stored and stored[name].data_type in SMALL_BITS
        if node.op_type == "DynamicQuantizeLinear":
            return name == node.output[1]  # the activation's scale, which the weight's is multiplied with
        return node.op_type in INTEGER_OPERATORS or (node.op_type in LAYOUT and holds_integers(node.input[0]))

    def origin(name):
        """What a scale was gathered or turned from."""
        node = maker.get(name)
        return origin(node.input[0]) if node is not None and node.op_type in LAYOUT else name

    names = set()
    for node in nodes(model):
        names.update(node.input[i] for i in SCALE_INPUTS.get(node.op_type, []) if i < len(node.input))
        if node.op_type == "Mul":
            names.update(origin(scale) for scale, other in (node.input, node.input[::-1]) if holds_integers(other))
    return {name for name in names if name in stored and stored[name].data_type in FLOAT_BYTES}


def integer_nodes(model):
    """Operators in integers: integer operators, and products whose data and weight are both dequantized."""
    count = 0
    for group, _ in graphs(model):
        maker = {output: node.op_type for node in group for output in node.output}
        for node in group:
            if node.op_type in INTEGER_OPERATORS or node.op_type.startswith("QLinear"):
                count += 1
            elif node.op_type in ("Conv", "ConvTranspose", "MatMul", "Gemm"):
                count += all(maker.get(name) == "DequantizeLinear" for name in node.input[:2])
    return count


def file_bytes(path):
    """Size of a model with the external data it refers to."""
    path = Path(path)
    model = onnx.load(path, load_external_data=False)
    locations = {
        entry.value for _, tensor in stored_tensors(model) for entry in tensor.external_data if entry.key == "location"
    }
    return path.stat().st_size + sum((path.parent / location).stat().st_size for location in locations)
