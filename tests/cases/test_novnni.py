"""What 8-bit products lose on processors without VNNI, and that --target x64-novnni keeps it: there the sum of two
products is held in 16 bits, which two large weights of one sign and two large activations do not fit. The command line
runs in an emulator of such a processor; nothing is timed there."""

import json
import platform
import shutil
import subprocess

import numpy as np
import onnx
import pytest
from octet_cli import BINARY, octet
from onnx import TensorProto, helper, numpy_helper

EMULATOR = "qemu-x86_64", "-cpu", "Haswell"

# Sums cut off at 32767 leave -11 to 9 dB here. With 7 bits nothing is cut off, and rounding alone leaves 34
# (two products one after the other) to 69, the same as on a processor with VNNI.
WRONG_DB, RIGHT_DB = 20, 30

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the runtime here is for another processor")


def large(generator, shape, axis):
    """Weights near the ends of their range, neighbours along an axis with one sign, so that their products add up."""
    signs = generator.choice([-1.0, 1.0], [1 if i == axis else n for i, n in enumerate(shape)])
    return (generator.uniform(0.9, 1, shape) * signs).astype(np.float32)


@pytest.fixture(params=["MatMul", "Gemm", "Conv", "Chain"])
def model(request, tmp_path):
    """A model and a folder of samples that are all large."""
    r = np.random.default_rng(5)
    shape, nodes = [8, 256], [helper.make_node(request.param, ["x", "w"], ["y"])]
    weights = {"w": large(r, (256, 64), 0)}
    if request.param == "Conv":
        shape, weights = [1, 16, 12, 12], {"w": large(r, (16, 16, 3, 3), 1)}
    elif request.param == "Chain":
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("MatMul", ["a", "v"], ["y"])]
        weights["v"] = large(r, (64, 32), 0)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", shape), ("y", None))]
    stored = [numpy_helper.from_array(values, name) for name, values in weights.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    (tmp_path / "samples").mkdir()
    for i in range(6):
        np.savez(tmp_path / f"samples/{i}.npz", x=r.uniform(0.7, 1, shape).astype(np.float32))
    return tmp_path / "m.onnx", tmp_path / "samples"


def emulated(*arguments):
    assert shutil.which(EMULATOR[0]), "scripts/setup python installs the emulator"
    command = [*EMULATOR, str(BINARY), *map(str, arguments)]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode("utf8", "replace")
    return run.stdout


def drift(model, other, samples):
    return json.loads(emulated("compare", model, other, "--data", samples, "--json"))["worst_sqnr_db"]


@pytest.mark.parametrize("form", ["qdq", "qoperator"])
def test_saturates_unless_the_target_says_so(model, form, tmp_path):
    model, samples = model
    found = {}
    for target in ("x64", "x64-novnni"):
        out = tmp_path / f"{target}.onnx"
        asked = "--target", target, "--calib", samples, "--format", form, "--no-verify"
        octet("quantize", model, "-o", out, *asked).succeeded()
        found[target] = drift(model, out, samples)
    print(found)
    assert found["x64"] < WRONG_DB
    assert found["x64-novnni"] > RIGHT_DB


def test_seven_bits_can_be_asked_for(model, tmp_path):
    model, samples = model
    out = tmp_path / "out.onnx"
    asked = "--target", "x64", "--reduce-range", "--calib", samples, "--no-verify"
    octet("quantize", model, "-o", out, *asked).succeeded()
    assert drift(model, out, samples) > RIGHT_DB


def test_such_a_processor_is_recognized(model, tmp_path):
    """Without --target the machine at hand decides."""
    plan = tmp_path / "plan.json"
    emulated("quantize", model[0], "-o", tmp_path / "out.onnx", "--calib", model[1], "--no-verify", "--save-plan", plan)
    saved = json.loads(plan.read_text())
    assert saved["target"] == "x64-novnni"
    assert all(tensor["reduce_range"] for tensor in saved["tensors"])
