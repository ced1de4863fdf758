"""The command line for arm64, in an emulator: what it writes is proved there by ONNX Runtime for arm64, has the bytes
that this machine's writes, and no time is told. `scripts/test arm64` builds both and runs this."""

import hashlib
import json
import re

import pytest
from emulated import MODELS, OCTET, emulated, proved, quantized, samples
from octet_cli import EXIT, octet

MODES = ("dynamic", "weights", "static")
# Beyond the modes' defaults; what they write is not run.
OPTIONS = {
    "dynamic": (
        ("--target", "x64"), ("--target", "wasm"), ("--per-channel", "--weight-type", "quint8"), ("--reduce-range",),
        ("--op-types", "Conv,MatMul"),
    ),
    "weights": (
        ("--target", "any"), ("--per-tensor",), ("--weight-type", "qint16"), ("--weight-type", "qint4"),
        ("--block-size", "32"), ("--external-data",),
    ),
    "static": (
        ("--target", "x64"), ("--format", "qoperator"), ("--method", "entropy"), ("--method", "mse", "--per-tensor"),
        ("--activation-type", "quint16"), ("--symmetric-activations", "--activation-type", "qint8"),
    ),
}


def hashes(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module", params=["digits_cnn", "gpt_char"])
def model(request):
    return request.param


@pytest.fixture(scope="module")
def ranges(model, tmp_path_factory):
    """Learned in the emulator."""
    path = tmp_path_factory.mktemp("ranges") / "ranges.json"
    emulated(OCTET, "calibrate", MODELS / f"{model}.onnx", "--calib", samples(model, "calib"), "-o", path).succeeded()
    return path


@pytest.fixture
def folders(tmp_path):
    made = tmp_path / "arm64", tmp_path / "x64"
    for folder in made:
        folder.mkdir()
    return made


@pytest.mark.parametrize("mode", MODES)
def test_proves_what_it_writes_and_writes_the_same_bytes(model, mode, ranges, folders):
    here, there = folders
    options = ["--mode", mode, "--target", "arm64", *(("--ranges", ranges) if mode == "static" else ())]
    report = quantized(OCTET, model, here / "out.onnx", *options, "--data", samples(model, "eval"))
    proved(report, model)
    assert not report["changed"]
    octet("quantize", MODELS / f"{model}.onnx", "-o", there / "out.onnx", "--no-verify", *options).succeeded()
    assert hashes(here) == hashes(there)


@pytest.mark.parametrize("mode", MODES)
def test_writes_the_same_bytes_whatever_is_asked(model, mode, ranges, folders):
    for number, more in enumerate(OPTIONS[mode]):
        given = ["--mode", mode, *(() if "--target" in more else ("--target", "arm64")), *more, "--no-verify"]
        given += ("--ranges", ranges) if mode == "static" else ()
        name = f"{number}.onnx"
        quantized(OCTET, model, folders[0] / name, *given)
        octet("quantize", MODELS / f"{model}.onnx", "-o", folders[1] / name, *given).succeeded()
    here, there = map(hashes, folders)
    assert here == there and len(here) >= len(OPTIONS[mode])


def test_static_from_samples_alone(model, folders):
    """Calibrating runs the model in each machine's own runtime; from the plan on, nothing differs any more."""
    plan = folders[0].parent / "plan.json"
    asked = "--calib", samples(model, "calib"), "--data", samples(model, "eval"), "--save-plan", plan
    report = quantized(OCTET, model, folders[0] / "out.onnx", *asked)
    proved(report, model)
    assert json.loads(plan.read_text())["target"] == "arm64"  # the machine's own, as the program sees it
    given = "--plan", plan, "--no-verify"
    octet("quantize", MODELS / f"{model}.onnx", "-o", folders[1] / "out.onnx", *given).succeeded()
    assert hashes(folders[0]) == hashes(folders[1])


def test_prepares_the_same_bytes(model, folders):
    asked = "--data", samples(model, "eval")
    command = "prepare", MODELS / f"{model}.onnx", "-o"
    said = emulated(OCTET, *command, folders[0] / "out.onnx", *asked).succeeded().stdout
    octet(*command, folders[1] / "out.onnx", *asked).succeeded()
    assert hashes(folders[0]) == hashes(folders[1])
    assert "not timed: this program runs in an emulator (qemu-aarch64)" in said and "latency" not in said


def test_reports_no_time(model, tmp_path):
    command = "quantize", MODELS / f"{model}.onnx", "-o", tmp_path / "out.onnx", "--data", samples(model, "eval")
    said = emulated(OCTET, *command).succeeded().stdout
    assert "not timed: this program runs in an emulator (qemu-aarch64)\n" in said
    assert "speed not measured" in said and not re.search(r"latency|\d ms\b|faster|slower", said)


def test_bench_refuses(model):
    path = MODELS / f"{model}.onnx"
    refused = emulated(OCTET, "bench", path, path, "--data", samples(model, "eval"))
    assert refused.exit == EXIT["usage"] and refused.stdout == ""
    assert refused.stderr.startswith("octet: error: bench: this program runs in an emulator (qemu-aarch64); ")


def test_without_a_command_for_children_nothing_is_verified(tmp_path):
    report = quantized(OCTET, "digits_cnn", tmp_path / "out.onnx", OCTET_EMULATOR="/nowhere/emulator")
    assert not report["verify"]["verified"] and "ended with status 127" in report["verify"]["why"]
    assert (tmp_path / "out.onnx").exists()
