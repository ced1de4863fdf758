"""Models of the zoo in static mode, calibrated on samples of their own.

A few with default settings: what they lose, and that the bytes are the same every time. With OCTET_ZOO=all every model
that has calibration samples, in both formats, per channel and per tensor, with every method of reading ranges: each
loads and runs, natively and in onnxruntime-web. How much they drift then is not judged.
"""

import itertools
import os

import pytest
import runtime
from octet_cli import octet, quantize
from quantized_zoo import TARGET, float_run
from sources import models, sha256

# Least SQNR of the worst output, a few dB below what was measured; in brackets what that was.
FLOORS = {
    "gpt_char": 28,  # (31.1)
    "magika": 35,  # (38.6)
    "oww_embedding": 20,  # (23.9)
    "nudenet": 27,  # (30.3)
    "mtcnn_pnet": 15,  # (18.6)
    "khmersm": 42,  # (45.6)
    "oww_mycroft": 25,  # (29.0)
}
LEAST_PRODUCTS = {"gpt_char": 17, "magika": 3, "oww_embedding": 20, "nudenet": 64}  # in integers

FORMATS, GRAINS = ("qdq", "qoperator"), ("per-channel", "per-tensor")
METHODS = ("minmax", "average", "entropy", "percentile", "mse", "best")
NATIVE_SAMPLES, WEB_SAMPLES = 2, 1
WEB_AGREEMENT_DB = 6  # engines round activations in places of their own: each has about the same error


def statically(zoo, name, out, *options):
    folder, entries = zoo
    entry = entries[name]
    calib = "--calib", folder / entry["calib"]
    return quantize(folder / entry["file"], out, *calib, "--target", TARGET, *options)


@pytest.fixture(scope="module", params=FLOORS)
def default(request, zoo, tmp_path_factory):
    """With default settings; the report knows the name and the file."""
    out = tmp_path_factory.mktemp(request.param) / "static.onnx"
    report = statically(zoo, request.param, out)
    yield request.param, out, report
    out.unlink(missing_ok=True)


def reference_of(zoo, name):
    folder, entries = zoo
    return float_run(folder / entries[name]["file"], folder / entries[name]["eval"])


def test_keeps_what_it_says(zoo, default):
    name, out, _ = default
    samples, reference = reference_of(zoo, name)
    for optimized in (False, True):
        found = runtime.worst_sqnr(reference, runtime.run_all(out, samples, optimized))
        print(f"{name}: {found:.1f} dB, {'optimized' if optimized else 'plain'}")
        assert found >= FLOORS[name]


def test_computes_in_integers(default):
    name, _, report = default
    static = [node for node in report["plan"]["nodes"] if node["action"] == "static"]
    products = [node for node in static if node["op"] in ("Conv", "MatMul", "Gemm")]
    assert len(products) >= LEAST_PRODUCTS.get(name, 1)


def test_same_bytes_every_time(zoo, default, tmp_path):
    name, out, _ = default
    statically(zoo, name, tmp_path / "again.onnx")
    assert sha256(tmp_path / "again.onnx") == sha256(out)


def test_runs_in_the_browser_runtime(zoo, default, web):
    name, out, _ = default
    samples, reference = (group[:4] for group in reference_of(zoo, name))
    native = runtime.worst_sqnr(reference, runtime.run_all(out, samples))
    found = runtime.worst_sqnr(reference, web.run_all(out, samples))
    print(f"{name}: web {found:.1f} dB, native {native:.1f} dB")
    assert found >= native - WEB_AGREEMENT_DB


MADE_WEIGHTS = [model["name"] for model in models("small") if model["name"].startswith("light_")]


@pytest.mark.parametrize("name", MADE_WEIGHTS)
def test_weights_that_are_made_while_it_runs_stay_in_float(zoo, web, name, tmp_path):
    """Nothing is stored that could be quantized: whatever is asked for gives the same model, which runs everywhere."""
    folder, entries = zoo
    model, samples, ranges = folder / entries[name]["file"], folder / entries[name]["eval"], tmp_path / "ranges.json"
    octet("calibrate", model, "--calib", samples, "--limit", "1", "-o", ranges).succeeded()
    written = set()
    for method, form, grain in itertools.product(METHODS, FORMATS, GRAINS):
        asked = "--ranges", ranges, "--method", method, "--format", form, f"--{grain}", "--target", TARGET
        said = octet("quantize", model, "-o", tmp_path / "out.onnx", "--no-verify", "--force", *asked).succeeded().stdout
        assert "nothing was quantized" in said
        written.add(sha256(tmp_path / "out.onnx"))
    assert len(written) == 1
    feeds, reference = (group[:1] for group in reference_of(zoo, name))
    plain, optimized = (runtime.run_all(tmp_path / "out.onnx", feeds, level) for level in (False, True))
    for outputs in (plain, optimized, web.run_all(tmp_path / "out.onnx", feeds)):
        assert runtime.worst_sqnr(reference, outputs) > 80


def every_form():
    if os.environ.get("OCTET_ZOO") != "all":
        return []
    names = [model["name"] for model in models("all") if not model["name"].startswith("light_")]
    return list(itertools.product(names, FORMATS, GRAINS, METHODS))


@pytest.fixture(scope="module")
def ranges(zoo, tmp_path_factory):
    """By model, learned once for all settings."""
    folder, learned = tmp_path_factory.mktemp("ranges"), {}

    def of(name):
        if name not in learned:
            entry, learned[name] = zoo[1][name], folder / f"{name}.json"
            arguments = zoo[0] / entry["file"], "--calib", zoo[0] / entry["calib"], "-o", learned[name]
            octet("calibrate", *arguments).succeeded()
        return learned[name]

    return of


@pytest.mark.parametrize(("name", "form", "grain", "method"), every_form())
def test_loads_and_runs_in_every_form(zoo, ranges, web, name, form, grain, method, tmp_path):
    out, entry = tmp_path / "out.onnx", zoo[1][name]
    asked = "--ranges", ranges(name), "--format", form, f"--{grain}", "--method", method, "--target", TARGET
    octet("quantize", zoo[0] / entry["file"], "-o", out, "--no-verify", *asked).succeeded()
    samples, reference = reference_of(zoo, name)
    plain = runtime.run_all(out, samples[:NATIVE_SAMPLES], optimized=False)
    optimized = runtime.run_all(out, samples[:NATIVE_SAMPLES])
    browser = web.run_all(out, samples[:WEB_SAMPLES])
    for outputs in (plain, optimized, browser):
        drift = runtime.sqnr_by_output(reference[: len(outputs)], outputs)
        print({output: round(decibels, 1) for output, decibels in drift.items()})
        assert runtime.BROKEN not in drift.values()
    out.unlink()
