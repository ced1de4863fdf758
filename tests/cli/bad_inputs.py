"""Inputs that must be refused: hostile or damaged models, impossible options, samples that do not fit.

Each entry makes what it needs in a fresh folder and returns the command's arguments; `out` there is where outputs go.
"""

import dataclasses
import json
from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper, numpy_helper


@dataclasses.dataclass(frozen=True)
class Bad:
    code: str  # name of the exit status
    arguments: Callable  # folder -> command line
    mentions: tuple = ()  # the message must name these


BAD = {}


def bad(code, *mentions):
    def register(make):
        BAD[make.__name__] = Bad(code, make, mentions)
        return make

    return register


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes=None, weights=None, opset=17, ir=8):
    r = np.random.default_rng(1)
    nodes = nodes or [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    weights = weights or [numpy_helper.from_array(r.standard_normal((32, 64)).astype(np.float32), "w")]
    graph = helper.make_graph(nodes, "g", [value("x", [4, 32])], [value("y", [4, 64])], weights)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir, producer_name="octet-test"
    )


def save(folder, content, name="model.onnx"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    return path


def quantize(folder, content=None, *options):
    return [
        "quantize",
        save(folder, content if content is not None else model()),
        "-o",
        folder / "out/q.onnx",
        *options,
    ]


def external(location, folder):
    m = model()
    tensor = m.graph.initializer[0]
    data = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", location), ("offset", "0"), ("length", str(len(data)))):
        tensor.external_data.add(key=key, value=text)
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/weights.bin").write_bytes(data)
    (folder / "model").mkdir()
    return ["quantize", save(folder / "model", m), "-o", folder / "out/q.onnx"]


def varint(number):
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(encoded + bytes([number]))


# Files that are no model


@bad("malformed")
def truncated(folder):
    return quantize(folder, model().SerializeToString()[:-1000])


@bad("malformed")
def truncated_in_the_header(folder):
    return quantize(folder, model().SerializeToString()[:7])


@bad("malformed")
def random_bytes(folder):
    return quantize(folder, np.random.default_rng(3).bytes(20000))


@bad("malformed")
def wrong_magic(folder):
    return quantize(folder, b"PK\x03\x04" + model().SerializeToString())


@bad("malformed")
def text_file(folder):
    return quantize(folder, b"# A model\n\nSee the other folder.\n" * 40)


@bad("malformed")
def empty_file(folder):
    return quantize(folder, b"")


@bad("malformed")
def absurd_length(folder):
    """A graph that claims to be longer than any file."""
    return quantize(folder, b"\x08\x08" + b"\x3a" + varint(1 << 62) + b"\x0a\x03abc")


@bad("malformed", "w")
def absurd_dimensions(folder):
    """A tensor of 2^62 elements in 8 KB."""
    m = model()
    m.graph.initializer[0].dims[:] = [1 << 31, 1 << 31]
    return quantize(folder, m)


@bad("malformed", "w")
def negative_dimension(folder):
    m = model()
    m.graph.initializer[0].dims[:] = [-32, -64]
    return quantize(folder, m)


@bad("malformed", "w")
def too_few_bytes(folder):
    m = model()
    m.graph.initializer[0].raw_data = m.graph.initializer[0].raw_data[:-4]
    return quantize(folder, m)


@bad("malformed")
def endless_nesting(folder):
    """Subgraphs nested a hundred thousand deep, as no exporter writes and any recursive reader dies of."""
    length, heads = 0, []
    for _ in range(
        100_000
    ):  # from the inside: what stands before the content of GraphProto.node, with its attribute's g
        attribute = b"\x0a\x01a\x32" + varint(length)
        node = b"\x22\x02If\x2a" + varint(len(attribute) + length)
        graph = b"\x0a" + varint(len(node) + len(attribute) + length)
        heads.append(graph + node + attribute)
        length += len(heads[-1])
    return quantize(folder, b"\x08\x08\x3a" + varint(length) + b"".join(reversed(heads)))


@bad("malformed")
def cyclic_graph(folder):
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="first"),
        helper.make_node("MatMul", ["a", "w"], ["b"], name="second"),
        helper.make_node("Relu", ["b"], ["y"], name="third"),
    ]
    return quantize(folder, model(nodes))


@bad("malformed", "nowhere")
def undefined_input(folder):
    return quantize(folder, model([helper.make_node("MatMul", ["nowhere", "w"], ["y"], name="product")]))


# Versions


@bad("unsupported", "6")
def opset_6(folder):
    return quantize(folder, model(opset=6))


@bad("unsupported", "99")
def opset_99(folder):
    return quantize(folder, model(opset=99))


@bad("unsupported", "2")
def ir_2(folder):
    return quantize(folder, model(ir=2))


# Paths


@bad("read", "model.onnx")
def missing_model(folder):
    return ["quantize", folder / "model.onnx", "-o", folder / "out/q.onnx"]


@bad("read", "model.onnx")
def folder_as_model(folder):
    (folder / "model.onnx").mkdir()
    return ["quantize", folder / "model.onnx", "-o", folder / "out/q.onnx"]


@bad("read", "weights.bin")
def missing_external_file(folder):
    return external("weights.bin", folder)


@bad("malformed", "elsewhere/weights.bin")
def external_path_escapes(folder):
    return external("../elsewhere/weights.bin", folder)


@bad("malformed", "weights.bin")
def external_path_absolute(folder):
    return external(str(folder / "elsewhere/weights.bin"), folder)


@bad("write")
def unwritable_output(folder):
    (folder / "file").write_text("in the way")
    return ["quantize", save(folder, model()), "-o", folder / "file/q.onnx"]


@bad("write", "q.onnx", "--force")
def existing_output(folder):
    (folder / "out/q.onnx").write_text("precious")
    return quantize(folder)


@bad("usage", "model.onnx")
def output_is_the_input(folder):
    """Even with --force: the input is read while the output is written."""
    path = save(folder, model())
    return ["quantize", path, "-o", path, "--force"]


# Options


@bad("usage", "no_such_node")
def unknown_node_to_exclude(folder):
    return quantize(folder, None, "--nodes-to-exclude", "no_such_node")


@bad("usage", "no_such_node")
def unknown_node_to_quantize(folder):
    return quantize(folder, None, "--nodes-to-quantize", "product,no_such_node")


@bad("usage", "--per-channel", "--per-tensor")
def contradictory_granularity(folder):
    return quantize(folder, None, "--per-channel", "--per-tensor")


@bad("usage", "--min-sqnr", "--no-verify")
def floor_without_verification(folder):
    return quantize(folder, None, "--min-sqnr", "30", "--no-verify")


@bad("usage", "--no-such-option")
def unknown_option(folder):
    return quantize(folder, None, "--no-such-option")


@bad("usage", "qint3")
def unknown_weight_type(folder):
    return quantize(folder, None, "--weight-type", "qint3")


@bad("usage", "--block-size")
def odd_block_size(folder):
    return quantize(folder, None, "--mode", "weights", "--block-size", "33")


@bad("usage", "-o")
def no_output(folder):
    return ["quantize", save(folder, model())]


# Plans


def with_plan(folder, text):
    (folder / "plan.json").write_text(text)
    return quantize(folder, None, "--plan", folder / "plan.json")


@bad("malformed", "plan.json")
def broken_plan(folder):
    return with_plan(folder, '{"mode": "weights", "nodes": [')


@bad("malformed", "plan.json")
def plan_of_another_kind(folder):
    return with_plan(folder, '["weights"]')


@bad("usage", "no_such_node")
def plan_with_unknown_node(folder):
    product = {"node": "no_such_node", "op": "MatMul", "action": "weights", "weights": ["w"], "why": "asked"}
    plan = {
        "octet_plan": 1,
        "mode": "weights",
        "target": "x64",
        "nodes": [product],
        "tensors": [],
        "kept": [],
        "notes": [],
    }
    return with_plan(folder, json.dumps(plan))


@bad("usage", "no_such_tensor")
def plan_with_unknown_tensor(folder):
    tensor = {"tensor": "no_such_tensor", "type": "qint8", "symmetric": True}
    plan = {
        "octet_plan": 1,
        "mode": "weights",
        "target": "x64",
        "nodes": [],
        "tensors": [tensor],
        "kept": [],
        "notes": [],
    }
    return with_plan(folder, json.dumps(plan))


@bad("non_finite", "w")
def weight_with_nan(folder):
    m = model()
    array = numpy_helper.to_array(m.graph.initializer[0]).copy()
    array[3, 3] = np.nan
    m.graph.initializer[0].CopyFrom(numpy_helper.from_array(array, "w"))
    return quantize(folder, m)
