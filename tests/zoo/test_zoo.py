"""Every model of the zoo, quantized in both ways that need no calibration: it loads, it runs, and the bytes add up.

OCTET_ZOO=full (or all) takes the larger parts of the zoo too.
"""

import numpy as np
import onnx
import onnx_facts
import pytest
import runtime
from quantized_zoo import MODES, Quantized, names, stored_results

LEAST_SHARE = 0.95  # of the float weight bytes that must be stored in 8 bits
MOST_STORED = 0.28  # what those may take then, of their float bytes: a quarter, and scales

# Against results.csv: kernels differ a little between processors; what drifts less than ROUNDING_DB is only rounded.
WEB_SAMPLES = 4  # enough that the drift of a single score is no accident
SIZE_TOLERANCE, SQNR_TOLERANCE_DB, ROUNDING_DB = 0.005, 1.5, 100

# Models that cannot reach LEAST_SHARE or MOST_STORED, with the reason.
SHARE_EXCEPTIONS = {
    "ppocr_cls": "0.6 MB in 300 tensors: 7 % are vectors and matrices of less than 256 values, not worth a scale each"
}
SIZE_EXCEPTIONS = {}


@pytest.fixture(scope="module", params=[(name, mode) for name in names() for mode in MODES], ids="-".join)
def quantized(request, zoo, tmp_path_factory):
    name, mode = request.param
    made = Quantized(zoo[0], zoo[1][name], mode, tmp_path_factory.mktemp(name))
    yield made
    made.path.unlink(missing_ok=True)


def test_runs(quantized):
    """Loads and runs, optimized and not; nothing but what was not finite before is not finite now."""
    assert quantized.report
    plain = runtime.run_all(quantized.path, quantized.samples, optimized=False)
    for outputs in (plain, quantized.outputs):
        drift = runtime.sqnr_by_output(quantized.reference, outputs)
        print({name: round(decibels, 1) for name, decibels in drift.items()})
        assert runtime.BROKEN not in drift.values()


def float_weights(quantized):
    """Float bytes of the source, of the output's weights, and of its scales."""
    stored, names = onnx_facts.float_bytes_by_name(quantized.model), onnx_facts.scale_names(quantized.model)
    scales = sum(stored[name] for name in names)
    source = sum(onnx_facts.float_bytes_by_name(onnx.load(quantized.source_path)).values())
    return source, sum(stored.values()) - scales, scales


def test_weights_are_stored_in_8_bits(quantized):
    before, left, scales = float_weights(quantized)
    name = quantized.source["name"]
    # Weights made by ConstantOfShape, or in 8 bits already: there is nothing to store.
    if name.startswith("light_") or name.endswith("int8"):
        assert onnx_facts.file_bytes(quantized.path) <= onnx_facts.file_bytes(quantized.source_path)
        return
    share = (before - left) / before
    old, new = (onnx_facts.small_integer_bytes(m) for m in (onnx.load(quantized.source_path), quantized.model))
    stored = (new - old + scales) / (before - left)
    print(f"{share:.1%} of {before} float bytes in 8 bits, which take {stored:.3f} of them")
    assert share >= LEAST_SHARE or name in SHARE_EXCEPTIONS
    assert stored <= MOST_STORED or name in SIZE_EXCEPTIONS


def test_report_explains_every_float_byte(quantized):
    _, left, _ = float_weights(quantized)
    explained, scales = quantized.report["sizes"]["left_float"], onnx_facts.scale_names(quantized.model)
    assert all(entry["why"].strip() for entry in explained)
    # A model that was quantized before has scales of its own, which the report may list.
    assert sum(entry["bytes"] for entry in explained if entry["name"] not in scales) == left


def test_report_explains_every_node(quantized):
    for node in quantized.report["plan"]["nodes"]:
        assert node["action"] in ("dynamic", "weights", "keep")
        assert node["why"].strip() or node["action"] != "keep", node


def test_report_knows_the_files(quantized):
    sizes = quantized.report["sizes"]
    assert sizes["input_bytes"] == onnx_facts.file_bytes(quantized.source_path)
    assert sizes["output_bytes"] == onnx_facts.file_bytes(quantized.path)


def test_runs_in_the_browser_runtime(quantized, web):
    """Engines round activations in places of their own, so each has an error of its own, of about the same size: twice
    the native one (6 dB) would be a fault. Without drift, float kernels still differ."""
    assert quantized.report
    groups = quantized.samples, quantized.reference, quantized.outputs
    samples, reference, native = (group[:WEB_SAMPLES] for group in groups)
    if quantized.source["name"].endswith("int8"):  # the engines differ already before Octet
        reference = web.run_all(quantized.source_path, samples)
    outputs = web.run_all(quantized.path, samples)
    drift, native_drift = (runtime.sqnr_by_output(reference, group) for group in (outputs, native))
    print(f"against float: web {drift}, native {native_drift}")
    for name, decibels in drift.items():
        assert decibels >= min(60, native_drift[name] - 6), name
    for one, other in zip(native, outputs):
        for name, array in one.items():
            assert array.dtype.kind == "f" or np.array_equal(array, other[name]), name


def test_results_hold(quantized):
    """Size and drift as in results.csv; update_results.py rewrites it."""
    row, now = stored_results().get((quantized.source["name"], quantized.mode)), quantized.result()
    assert row, "not in results.csv: run tests/zoo/update_results.py"
    assert int(now["bytes_out"]) == pytest.approx(int(row["bytes_out"]), rel=SIZE_TOLERANCE)
    least = min(float(row["worst_sqnr_db"]), ROUNDING_DB) - SQNR_TOLERANCE_DB
    assert float(now["worst_sqnr_db"]) >= least
