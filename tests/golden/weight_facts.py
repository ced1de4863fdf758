"""The float weights of a model, and what the reference tool makes of one: short facts that fit a golden file."""

import hashlib

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

# Weight type, reduced range: in the order of every list of facts.
CONFIGURATIONS = (("qint8", False), ("qint8", True), ("quint8", False), ("quint8", True))
# Weight type, bits, block length: in the order of every list of block facts.
BLOCKS = (("qint4", 4, 32), ("quint4", 4, 32), ("qint8", 8, 128), ("quint8", 8, 128))
TENSOR_TYPES = {"qint8": TensorProto.INT8, "quint8": TensorProto.UINT8}


def channel_axes(node, index, rank):
    """Axes that count the output channels of the weight at an input of a node; None when it is no weight."""
    attributes = {a.name: a.i for a in node.attribute if a.type == onnx.AttributeProto.INT}
    kind = node.op_type
    if kind == "Conv" and index == 1:
        return (0,)
    if kind == "ConvTranspose" and index == 1 and attributes.get("group", 1) == 1:
        return (1,)
    if kind == "MatMul" and rank == 2:
        return (1 - (index == 0),)
    if kind == "Gemm" and index < 2 and rank == 2:
        transposed = attributes.get("transB" if index else "transA", 0)
        return ((1 if index else 0) ^ (1 if transposed else 0),)
    if kind == "Gather" and index == 0 and rank >= 2 and attributes.get("axis", 0) == 0:
        return (0,)
    if kind in ("LSTM", "GRU") and index in (1, 2):
        return 0, 1
    return None


def find_weights(model):
    """Name -> (array, channel axes) of the float32 weights, in initializers or Constants, subgraphs included. Left out
    are names that stand for different tensors in different subgraphs, and weights whose users disagree on the axes."""
    found, dropped = {}, set()

    def visit(graph, outer):
        known = dict(outer)
        known.update((t.name, t) for t in graph.initializer)
        known.update(
            (n.output[0], a.t) for n in graph.node if n.op_type == "Constant" for a in n.attribute if a.name == "value"
        )
        for node in graph.node:
            for index, name in enumerate(node.input):
                tensor = known.get(name)
                if tensor is None or tensor.data_type != TensorProto.FLOAT or len(tensor.dims) < 2:
                    continue
                axes = channel_axes(node, index, len(tensor.dims))
                if axes is None:
                    continue
                entry = numpy_helper.to_array(tensor), axes
                if name in found and not (found[name][1] == axes and np.array_equal(found[name][0], entry[0])):
                    dropped.add(name)
                found[name] = entry
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    visit(attribute.g, known)

    visit(model.graph, {})
    return {name: entry for name, entry in found.items() if name not in dropped}


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def channels(array, axes):
    """Rows of one channel each."""
    moved = np.moveaxis(array, axes, range(len(axes)))
    return moved.reshape(int(np.prod(moved.shape[: len(axes)])), -1)


def fact(scales, zero_points, quantized):
    """Bits of the scale and zero point for a single one, hashes for many; hash of the 8-bit values."""
    scales, zero_points = np.asarray(scales, np.float32), np.asarray(zero_points)
    if scales.size == 1:
        return f"{scales.tobytes().hex()}.{zero_points.tobytes().hex()}.{digest(quantized.tobytes())}"
    return f"{digest(scales.tobytes())}.{digest(zero_points.tobytes())}.{digest(quantized.tobytes())}"


def reference_fact(array, axes, kind, reduced):
    """What onnxruntime.quantization gives, per tensor when `axes` is empty."""
    from onnxruntime.quantization.quant_utils import quantize_data

    symmetric = kind == "qint8"  # the reference's default
    rows = channels(array, axes) if axes else array.reshape(1, -1)
    results = [quantize_data(row, TENSOR_TYPES[kind], symmetric, reduced) for row in rows]
    zero_points, scales, values = (np.stack([np.asarray(r[i]) for r in results]) for i in range(3))
    if axes:
        moved = values.reshape([array.shape[a] for a in axes] + [n for i, n in enumerate(array.shape) if i not in axes])
        values = np.moveaxis(moved, range(len(axes)), axes)
    return fact(scales, zero_points, np.ascontiguousarray(values))


def reference_facts(array, axes):
    """One list per tensor, one per channel. An LSTM's tensors have a scale per direction at least."""
    return [[reference_fact(array, a, kind, reduced) for kind, reduced in CONFIGURATIONS] for a in (axes[:-1], axes)]


def block_fact(packed, scales, zero_points):
    parts = [packed, scales] + ([] if zero_points is None else [zero_points])
    return ".".join(digest(np.ascontiguousarray(part).tobytes()) for part in parts)


def reference_block_facts(array):
    """What the reference's own quantizer for MatMulNBits gives, for a matrix [K, N]."""
    from onnxruntime.capi import _pybind_state as reference

    facts = []
    for kind, bits, block in BLOCKS:
        rows, columns = array.shape
        count, signed = -(-rows // block), kind.startswith("qint")
        packed = np.zeros((columns, count, block * bits // 8), np.uint8)
        scales = np.zeros((columns, count), np.float32)
        zero_points = np.zeros((columns, -(-count * bits // 8)), np.uint8)
        run = reference.quantize_matmul_4bits if bits == 4 else reference.quantize_matmul_8bits
        run(packed, np.ascontiguousarray(array), scales, zero_points, block, columns, rows, signed)
        facts.append(block_fact(packed, scales, None if signed else zero_points))
    return facts
