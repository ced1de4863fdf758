"""The WebAssembly core under Node writes the same bytes as the command line, for every model of the zoo; in static mode
from the same ranges."""

import pytest
from fetch_zoo import ensure
from node_jobs import NodeJobs
from octet_cli import PROJECT, octet
from quantized_zoo import MODES, names, tier
from sources import sha256


@pytest.fixture(scope="module")
def zoo():
    folder, entries = ensure(tier())
    return {entry["name"]: folder / entry["file"] for entry in entries}


@pytest.fixture(scope="module")
def samples():
    folder, entries = ensure(tier())
    return {entry["name"]: folder / entry.get("calib", entry["eval"]) for entry in entries}


# Every method, in one of the two formats.
STATIC = [{"method": method} for method in ("minmax", "average", "entropy", "percentile", "mse", "best")]
STATIC += [
    {"format": "qoperator"},
    {"format": "qoperator", "method": "entropy", "per_channel": False},
    {"activation_type": "qint8", "symmetric_activations": True, "method": "mse"},
]
CALIBRATED_ON = "4"  # samples: what is learned must be the same to the last bit, not good


@pytest.fixture(scope="module")
def module():
    jobs = NodeJobs(PROJECT / "tests/wasm/quantize_cli.mjs", "-")
    yield jobs
    jobs.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", names())
def test_same_bytes(name, mode, zoo, module, tmp_path):
    for target in ("x64", "wasm"):
        native, web = tmp_path / f"{target}.native.onnx", tmp_path / f"{target}.web.onnx"
        octet("quantize", zoo[name], "-o", native, "--mode", mode, "--target", target, "--no-verify").succeeded()
        options = {"mode": mode, "target": target}
        answer = module.ask({"model": str(zoo[name]), "options": options, "output": str(web)})
        assert "error" not in answer, answer
        assert sha256(web) == sha256(native), target
        native.unlink(), web.unlink()


def flags(options):
    for key, value in options.items():
        if key == "per_channel":
            yield "--per-channel" if value else "--per-tensor"
        elif value is True:
            yield f"--{key.replace('_', '-')}"
        else:
            yield from (f"--{key.replace('_', '-')}", value)


@pytest.mark.parametrize("name", names())
def test_same_bytes_from_the_same_ranges(name, zoo, samples, module, tmp_path):
    model, ranges = zoo[name], tmp_path / "ranges.json"
    octet("calibrate", model, "--calib", samples[name], "--limit", CALIBRATED_ON, "-o", ranges).succeeded()
    native, web = tmp_path / "native.onnx", tmp_path / "web.onnx"
    for options in STATIC:
        given = "--ranges", ranges, "--target", "wasm", *flags(options)
        octet("quantize", model, "-o", native, "--no-verify", "--force", *given).succeeded()
        answer = module.ask({"model": str(model), "options": options, "ranges": str(ranges), "output": str(web)})
        assert "error" not in answer, (options, answer)
        assert answer["report"]["plan"]["mode"] == "static"
        assert sha256(web) == sha256(native), options
