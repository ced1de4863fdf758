"""Small models from public reports of what preparing breaks, and the promises of `octet prepare`, judged on its files.

Numbers are those of the reports' cases.
"""

import json
import math
import subprocess

import numpy as np
import onnx
import onnx_facts
import pytest
import runtime
from case_kit import Built, batches, graph, model, node, normal, rng, value, weight
from octet_cli import BINARY, octet
from onnx import TensorProto
from test_cases import write

SAME = 1e-4  # max|a - b| / max|b|: what float sums in another order may give


def prepared(built, folder, *options, dropped=()):
    """Prepares with verification; the result computes the same, optimized and not. `dropped` inputs were fixed."""
    source, output = folder / "model" / "model.onnx", folder / "prepared.onnx"
    write(built, source)
    result = octet("prepare", source, "-o", output, "--data", source.parent / "samples", "--json", *options)
    report = json.loads(result.succeeded().stdout)
    for optimized in (False, True):
        wanted = runtime.run_all(source, built.samples, optimized)
        feeds = [{name: array for name, array in sample.items() if name not in dropped} for sample in built.samples]
        assert runtime.largest_difference(wanted, runtime.run_all(output, feeds, optimized)) <= SAME
    after = onnx.load(output)
    onnx.checker.check_model(after)
    return after, report


def operators(prepared_model):
    return sorted(n.op_type for n in onnx_facts.nodes(prepared_model))


def sizes(report):
    return report["bytes"]["after"] / report["bytes"]["before"]


@pytest.mark.parametrize("options", [(), ("--opset", "17")], ids=["kept", "raised"])
def test_21_upsample(options, tmp_path):
    """Opset 9: the opset rises together with the operator, or neither does."""
    r = rng(31)
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
        node("Upsample", "c factors", "u", mode="nearest"),
        node("Relu", "u", "y"),
    ]
    weights = [weight("w", normal(r, 4, 3, 3, 3)), weight("factors", np.float32([1, 1, 2, 2]))]
    built = Built(
        model(nodes, [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 16, 16])], weights, opset=9, ir=4),
        batches(r, 2, x=(1, 3, 8, 8)),
    )
    after, _ = prepared(built, tmp_path, *options)
    opset = after.opset_import[0].version
    assert ("Upsample" in operators(after)) == (opset < 10)
    assert opset == 17 or not options


def test_24_tied_table(tmp_path):
    """A table that is looked up and, turned over, multiplied with: its Transpose must not make a second one."""
    r = rng(24)
    nodes = [
        node("Gather", "table ids", "e"),
        node("MatMul", "e w", "h"),
        node("Tanh", "h", "t"),
        node("Transpose", "table", "turned", perm=[1, 0]),
        node("MatMul", "t turned", "y"),
    ]
    weights = [weight("table", normal(r, 512, 32, scale=0.3)), weight("w", normal(r, 32, 32, scale=0.3))]
    samples = [{"ids": r.integers(0, 512, (1, 7))} for _ in range(3)]
    built = Built(
        model(nodes, [value("ids", [1, 7], TensorProto.INT64)], [value("y", [1, 7, 512])], weights), samples
    )
    after, report = prepared(built, tmp_path)
    assert sizes(report) <= 1.01
    assert sum(t.ByteSize() > 60000 for _, t in onnx_facts.stored_tensors(after)) == 1


def test_47_weights_in_8_bits(tmp_path):
    """DequantizeLinear of stored weights stays: folded, they would be float again."""
    r = rng(39)
    nodes = [
        node("QuantizeLinear", "x scale zero", "q"),
        node("DequantizeLinear", "q scale zero", "d"),
        node("DequantizeLinear", "w scales zeros", "f", axis=0),
        node("Conv", "d f", "c", pads=[1, 1, 1, 1]),
        node("BatchNormalization", "c gain bias mean var", "y"),
    ]
    weights = [
        weight("w", r.integers(-127, 128, (16, 8, 3, 3)).astype(np.int8)),
        weight("scales", np.full(16, 0.002, np.float32)),
        weight("zeros", np.zeros(16, np.int8)),
        weight("scale", np.float32(0.03)),
        weight("zero", np.uint8(128)),
        weight("gain", np.ones(16, np.float32)),
        weight("bias", normal(r, 16)),
        weight("mean", normal(r, 16)),
        weight("var", np.ones(16, np.float32)),
    ]
    built = Built(
        model(nodes, [value("x", [1, 8, 8, 8])], [value("y", [1, 16, 8, 8])], weights),
        batches(r, 3, x=(1, 8, 8, 8)),
    )
    after, report = prepared(built, tmp_path)
    assert onnx_facts.small_integer_bytes(after) >= 16 * 8 * 9
    assert onnx_facts.float_elements(after) <= 100
    assert sizes(report) <= 1.01


def branches(r, condition, extra_nodes=(), extra_inputs=(), extra_weights=()):
    """Then: x times a matrix of the outer graph; else: times one of its own, by names that both branches have."""
    then = graph([node("MatMul", "x w", "a"), node("Abs", "a", "z")], [value("z", None)])
    own = weight("v", normal(r, 8, 8))
    other = graph([node("MatMul", "x v", "a"), node("Neg", "a", "z")], [value("z", None)], [own])
    nodes = [*extra_nodes, node("If", condition, "u", then_branch=then, else_branch=other), node("Selu", "u", "y")]
    weights = [weight("w", normal(r, 8, 8)), *extra_weights]
    return model(nodes, [value("x", ["n", 8]), *extra_inputs], [value("y", ["n", 8])], weights)


@pytest.mark.parametrize("taken", [True, False])
def test_branch_that_is_known(taken, tmp_path):
    """Conditions that are stored, that follow from a shape, and that are fixed on the command line."""
    r = rng(71)
    samples = batches(r, 2, x=(3, 8))
    stored = Built(branches(r, "c", extra_weights=[weight("c", np.bool_(taken))]), samples)
    asked = [
        node("Shape", "x", "s"),
        node("Gather", "s one", "width"),
        node("Equal", "width wanted", "c"),
    ]
    numbers = [weight("one", np.int64(1)), weight("wanted", np.int64(8 if taken else 9))]
    shaped = Built(branches(r, "c", asked, extra_weights=numbers), samples)
    flagged = [{**sample, "flag": np.array(int(taken))} for sample in samples]
    given = Built(
        branches(
            r,
            "c",
            [node("Equal", "flag one", "c")],
            [value("flag", [], TensorProto.INT64)],
            [weight("one", np.int64(1))],
        ),
        flagged,
    )
    for name, built, options, dropped in (
        ("stored", stored, (), ()),
        ("shaped", shaped, (), ()),
        ("given", given, ("--fix", f"flag={int(taken)}"), ("flag",)),
    ):
        (tmp_path / name).mkdir()
        after, _ = prepared(built, tmp_path / name, *options, dropped=dropped)
        assert operators(after) == sorted(["MatMul", "Abs" if taken else "Neg", "Selu"]), name


def test_external_data(tmp_path):
    """Weights beside the model come from there and, on request, go there, moved or changed as the passes want."""
    r = rng(72)
    nodes = [
        node("Identity", "w", "same"),
        node("MatMul", "x same", "a"),
        node("Mul", "a gain", "m"),
        node("Transpose", "v", "turned"),
        node("MatMul", "m turned", "y"),
    ]
    weights = [
        weight("w", normal(r, 64, 64)),
        weight("gain", normal(r, 64)),
        weight("v", normal(r, 32, 64)),
    ]
    built = Built(
        model(nodes, [value("x", ["n", 64])], [value("y", ["n", 32])], weights),
        batches(r, 2, x=(3, 64)),
        external={"weights.bin": ["w", "v"]},
    )
    after, report = prepared(built, tmp_path, "--external-data")
    assert operators(after) == ["MatMul", "MatMul"]
    bare = onnx.load(tmp_path / "prepared.onnx", load_external_data=False)
    places = {e.value for t in bare.graph.initializer for e in t.external_data if e.key == "location"}
    assert places == {"prepared.onnx.data"}
    assert report["bytes"]["after"] == onnx_facts.file_bytes(tmp_path / "prepared.onnx")
    assert sizes(report) <= 1.01


def test_more_than_2_gb_in_200_mb_of_memory(tmp_path):
    """Weights pass through, changed ones too, and never all at once. The file has holes: it takes no space itself."""
    width, layers = 4096, 34
    nodes, weights, last, offset = [], [], "x", 0
    with open(tmp_path / "big.data", "wb") as data:
        for i in range(layers):
            tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[width, width])
            tensor.data_location = TensorProto.EXTERNAL
            for key, entry in (("location", "big.data"), ("offset", offset), ("length", 4 * width * width)):
                tensor.external_data.add(key=key, value=str(entry))
            data.seek(offset + 4 * i)
            data.write(np.float32([i + 1]).tobytes())  # no two are equal
            offset += 4 * width * width
            weights += [tensor, weight(f"gain{i}", np.full(width, 1 + i, np.float32))]
            if i % 2:
                nodes += [node("Transpose", f"w{i}", f"t{i}"), node("MatMul", f"{last} t{i}", f"y{i}")]
            else:
                nodes += [node("MatMul", f"{last} w{i}", f"m{i}"), node("Mul", f"m{i} gain{i}", f"y{i}")]
            last = f"y{i}"
        data.truncate(offset)
    built = model(nodes, [value("x", ["n", width])], [value(last, ["n", width])], weights)
    (tmp_path / "big.onnx").write_bytes(built.SerializeToString())
    output = tmp_path / "out.onnx"
    command = ["sh", "-c", 'ulimit -d 200000; exec "$@"', "-", str(BINARY), "prepare", str(tmp_path / "big.onnx")]
    try:
        run = subprocess.run([*command, "-o", str(output), "--no-verify"], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        after = onnx.load(output, load_external_data=False)
        assert operators(after) == ["MatMul"] * layers
        assert onnx_facts.file_bytes(output) <= 1.01 * offset
        assert len({math.prod(t.dims) for t in after.graph.initializer}) == 1
    finally:
        for path in tmp_path.glob("*.data"):
            path.unlink()
