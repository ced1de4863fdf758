"""octet calibrate through the command line: parts merge to the whole, ranges serve quantize, nothing is left behind."""

import json
import os
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from octet_cli import BINARY, EXIT, PROJECT, octet
from onnx import TensorProto, helper

DATA = PROJECT / "tests/data"
GPT, DIGITS = DATA / "gpt_char.onnx", DATA / "digits_cnn.onnx"


def calibrate(model, output, *options, samples=None):
    """Calibrates and returns the report."""
    samples = samples or DATA / model.stem / "calib"
    finished = octet("calibrate", model, "--calib", samples, "-o", output, "--json", *options)
    return json.loads(finished.succeeded().stdout)


@pytest.fixture(scope="module")
def ranges(tmp_path_factory):
    """Of both models, learned once."""
    folder = tmp_path_factory.mktemp("ranges")
    for model in (GPT, DIGITS):
        calibrate(model, folder / f"{model.stem}.json")
    return {model: folder / f"{model.stem}.json" for model in (GPT, DIGITS)}


def refused(code, *arguments, mentions=()):
    finished = octet(*arguments)
    assert finished.exit == EXIT[code], finished.said
    assert all(word in finished.stderr for word in mentions), finished.stderr


@pytest.mark.parametrize("model", [GPT, DIGITS], ids=lambda model: model.stem)
def test_shards_merge_to_one_run(model, ranges, tmp_path):
    parts = [tmp_path / f"{i}.json" for i in (1, 2, 3)]
    counts = [calibrate(model, part, "--shard", f"{i}/3")["samples"] for i, part in enumerate(parts, 1)]
    assert min(counts) > 0
    assert sum(counts) == json.loads(ranges[model].read_text())["samples"]
    for order in (parts, parts[::-1]):
        octet("calibrate", "--merge", *order, "-o", tmp_path / "all.json", "--force").succeeded()
        assert (tmp_path / "all.json").read_bytes() == ranges[model].read_bytes()


def test_shards_are_cut_from_the_samples_chosen(tmp_path):
    chosen = ("--limit", "5", "--shuffle", "3")
    calibrate(DIGITS, tmp_path / "whole.json", *chosen)
    for i in (1, 2):
        calibrate(DIGITS, tmp_path / f"{i}.json", *chosen, "--shard", f"{i}/2")
    octet("calibrate", "--merge", tmp_path / "1.json", tmp_path / "2.json", "-o", tmp_path / "both.json").succeeded()
    assert (tmp_path / "both.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_the_memory_budget_changes_nothing_but_segments(ranges, tmp_path):
    report = calibrate(DIGITS, tmp_path / "small.json", "--memory-budget", "1", samples=None)
    assert (tmp_path / "small.json").read_bytes() == ranges[DIGITS].read_bytes()
    assert report["segments"] >= 1


@pytest.mark.parametrize("options", [(), ("--method", "entropy"), ("--op-types", "Conv,MatMul,Gemm")])
def test_saved_ranges_serve_as_samples_do(options, ranges, tmp_path):
    """One file of ranges, whatever the plan asks for."""
    learned = "quantize", DIGITS, "-o", tmp_path / "a.onnx", "--calib", DATA / "digits_cnn/calib", "--no-verify"
    saved = "quantize", DIGITS, "-o", tmp_path / "b.onnx", "--ranges", ranges[DIGITS], "--no-verify"
    octet(*learned, *options).succeeded()
    octet(*saved, *options).succeeded()
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_refuses_ranges_of_another_model(ranges, tmp_path):
    out = tmp_path / "out.json"
    refused("usage", "calibrate", "--merge", *ranges.values(), "-o", out, mentions=[ranges[DIGITS].name])
    refused("usage", "calibrate", GPT, "--merge", ranges[DIGITS], "-o", out, mentions=["another model"])
    refused("usage", "quantize", GPT, "--ranges", ranges[DIGITS], "-o", out, mentions=["another model"])
    octet("calibrate", GPT, "--merge", ranges[GPT], "-o", out).succeeded()
    assert list(tmp_path.iterdir()) == [out]


def test_replaces_nothing_unasked(tmp_path):
    out = tmp_path / "ranges.json"
    out.write_text("mine")
    arguments = "calibrate", DIGITS, "--calib", DATA / "digits_cnn/calib", "-o", out
    refused("write", *arguments, mentions=["ranges.json", "--force"])
    assert out.read_text() == "mine"
    octet(*arguments, "--force").succeeded()
    assert json.loads(out.read_text())["samples"] > 0
    refused("usage", "calibrate", "--merge", out, "-o", out, "--force", mentions=["input itself"])
    refused("usage", "calibrate", DIGITS, "--calib", DATA / "digits_cnn/calib", "-o", DIGITS, "--force")
    refused("write", *arguments[:-1], tmp_path / "nowhere/ranges.json")


def test_interrupted_leaves_nothing(tmp_path):
    sample = next((DATA / "gpt_char/calib").glob("*.npz"))
    for folder in ("samples", "out", "temporary"):
        (tmp_path / folder).mkdir()
    for i in range(20_000):
        (tmp_path / f"samples/{i:05}.npz").symlink_to(sample)
    command = [BINARY, "calibrate", GPT, "--calib", tmp_path / "samples", "-o", tmp_path / "out/ranges.json"]
    environment = os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    # Where these tests run in the background their own interrupts may be ignored, which Octet would keep to.
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    process = subprocess.Popen(command, env=environment, preexec_fn=heard, **pipes)
    try:
        patience = time.monotonic() + 60
        while "libonnxruntime" not in open(f"/proc/{process.pid}/maps").read():
            assert process.poll() is None and time.monotonic() < patience
            time.sleep(0.05)
        time.sleep(0.2)  # some samples later
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert said == (b"", b"")
    assert not list((tmp_path / "out").iterdir()) and not list((tmp_path / "temporary").iterdir())


def mask_model():
    """y = softmax(x · w + mask), where a mask may hold -inf."""
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("MatMul", ["x", "x"], ["product"], name="product"),
        helper.make_node("Add", ["product", "mask"], ["masked"]),
        helper.make_node("Softmax", ["masked"], ["y"]),
    ]
    inputs = [value(name, TensorProto.FLOAT, ["n", "n"]) for name in ("x", "mask")]
    graph = helper.make_graph(nodes, "g", inputs, [value("y", TensorProto.FLOAT, ["n", "n"])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_tells_of_values_that_are_not_finite(tmp_path):
    """microsoft/onnxruntime#23749: an infinite mask. Ranges are of what is finite, and the tensor is named."""
    (tmp_path / "m.onnx").write_bytes(mask_model().SerializeToString())
    (tmp_path / "data").mkdir()
    x = np.array([[1, 2], [3, 4]], np.float32)
    np.savez(tmp_path / "data/0.npz", x=x, mask=np.zeros((2, 2), np.float32))
    np.savez(tmp_path / "data/1.npz", x=x, mask=np.array([[0, -np.inf], [0, 0]], np.float32))
    report = calibrate(tmp_path / "m.onnx", tmp_path / "r.json", samples=tmp_path / "data")
    assert any("'mask'" in note and "1 values" in note and "first in 1.npz" in note for note in report["notes"])
    learned = {tensor["tensor"]: tensor for tensor in json.loads((tmp_path / "r.json").read_text())["tensors"]}
    assert (learned["masked"]["min"], learned["masked"]["max"]) == (7, 22)
    assert learned["masked"]["non_finite"] == 1


def test_empty_tensors_are_passed_over(tmp_path):
    """microsoft/onnxruntime#19544: no detections in some samples."""
    (tmp_path / "m.onnx").write_bytes(mask_model().SerializeToString())
    (tmp_path / "data").mkdir()
    for i, size in enumerate((0, 2)):
        square = np.ones((size, size), np.float32)
        np.savez(tmp_path / f"data/{i}.npz", x=square, mask=square)
    report = calibrate(tmp_path / "m.onnx", tmp_path / "r.json", samples=tmp_path / "data")
    assert report["samples"] == 2 and not report["notes"]
    learned = {tensor["tensor"]: tensor for tensor in json.loads((tmp_path / "r.json").read_text())["tensors"]}
    assert learned["masked"]["runs"] == 1 and learned["masked"]["min"] == 3


def test_says_what_to_do_better(tmp_path):
    """A report for people: what was learned, from what, and that these samples are few."""
    shutil.copytree(DATA / "digits_cnn/calib", tmp_path / "calib")
    finished = octet("calibrate", DIGITS, "--calib", "calib", "-o", "r.json", "--limit", "2", cwd=tmp_path)
    said = finished.succeeded().stdout
    assert "ranges of" in said and "2 of" in said and "from calib" in said
    assert "100" in said.splitlines()[-1]
    assert finished.stderr == ""


@pytest.mark.parametrize("step", [["--equalize"], ["--bias-correction"], ["--smooth-quant", "0.5"]], ids="".join)
def test_a_plan_takes_no_further_steps(step, tmp_path):
    plan, output = tmp_path / "plan.json", tmp_path / "out.onnx"
    made = ["quantize", DIGITS, "-o", tmp_path / "first.onnx", "--calib", DATA / "digits_cnn/calib", "--no-verify", "--save-plan", plan]
    octet(*made).succeeded()
    finished = octet("quantize", DIGITS, "-o", output, "--plan", plan, *step)
    assert finished.exit == EXIT["usage"] and "--plan" in finished.stderr
    assert not output.exists()
