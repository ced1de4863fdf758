"""The WebAssembly core, under Node and in Chromium, writes the same bytes as the command line, for every model of the
zoo; in static mode from the same ranges, and from a plan that one of them made."""

import pytest
from octet_cli import octet
from quantized_zoo import MODES, names

# Every method, in one of the two formats.
STATIC = [{"method": method} for method in ("minmax", "average", "entropy", "percentile", "mse", "best")]
STATIC += [
    {"format": "qoperator"},
    {"format": "qoperator", "method": "entropy", "per_channel": False},
    {"activation_type": "qint8", "symmetric_activations": True, "method": "mse"},
]
CALIBRATED_ON = "4"  # samples: what is learned must be the same to the last bit, not good


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", names())
def test_same_bytes(name, mode, zoo, places, tmp_path):
    folder, entries = zoo
    for target in ("x64", "wasm"):
        places.agree(folder / entries[name]["file"], tmp_path, {"mode": mode, "target": target}).succeeded()


@pytest.mark.parametrize("name", names())
def test_same_bytes_from_the_same_ranges(name, zoo, places, tmp_path):
    folder, entries = zoo
    entry, ranges, plan = entries[name], tmp_path / "ranges.json", tmp_path / "plan.json"
    model = folder / entry["file"]
    samples = folder / entry.get("calib", entry["eval"])
    octet("calibrate", model, "--calib", samples, "--limit", CALIBRATED_ON, "-o", ranges).succeeded()
    for options in STATIC:
        places.agree(model, tmp_path, {"mode": "static", **options}, ranges).succeeded()
    output = tmp_path / "planned.onnx"
    octet("quantize", model, "-o", output, "--ranges", ranges, "--no-verify", "--save-plan", plan).succeeded()
    places.agree(model, tmp_path, {}, plan=plan).succeeded()
