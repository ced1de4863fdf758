"""The real models whose ranges are compared: two of tests/data and two of the small zoo, as exported."""

import json
from pathlib import Path

from fetch_zoo import ensure
from octet_cli import octet

DATA = Path(__file__).resolve().parent.parent / "data"
MODELS = ("digits_cnn", "gpt_char", "magika", "oww_embedding")
SAMPLES_OF_MODELS = 6


def samples_of(name):
    """The model and the folder of its samples."""
    if (DATA / f"{name}.onnx").exists():
        return DATA / f"{name}.onnx", DATA / name / "calib"
    folder, entries = ensure("small")
    entry = next(entry for entry in entries if entry["name"] == name)
    return folder / entry["file"], folder / entry["calib"]


def planned_ranges(model, ranges, folder, method, *options):
    """Activation -> (low, high) in a static plan; `ranges` are samples, or what octet calibrate wrote."""
    source, plan = "--ranges" if ranges.suffix == ".json" else "--calib", folder / "plan.json"
    fixed = ["--mode", "static", "--target", "x64", "--no-prepare", "--no-verify", "--force", "--save-plan", plan]
    octet("quantize", model, "-o", folder / "q.onnx", source, ranges, "--method", method, *fixed, *options).succeeded()
    entries = json.loads(plan.read_text())["activations"]
    return {entry["tensor"]: (entry["low"], entry["high"]) for entry in entries if "low" in entry}
