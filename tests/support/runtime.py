"""Runs models in ONNX Runtime and compares what they give."""

import os

import numpy as np

os.environ["ORT_DISABLE_TELEMETRY"] = (
    "1"  # before the runtime is loaded: it reports home and leaves files in TMPDIR else
)
import onnxruntime

onnxruntime.set_default_logger_severity(4)

EQUAL, BROKEN = 200.0, -999.0


def session(path, optimized=True, optimized_file=None):
    """One thread, so that sums are always taken in the same order. `optimized_file`: where the runtime is to write what
    it makes of the model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    if optimized_file:
        options.optimized_model_filepath = str(optimized_file)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run_all(path, feeds, optimized=True):
    """Outputs of every sample, by name."""
    loaded = session(path, optimized)
    names = [o.name for o in loaded.get_outputs()]
    return [dict(zip(names, loaded.run(None, sample))) for sample in feeds]


def load_samples(folder):
    return [dict(np.load(path)) for path in sorted(folder.glob("*.npz"))]


def sqnr(reference, candidate):
    """10 log10(sum r^2 / sum (r - c)^2) in dB; EQUAL when nothing differs, BROKEN when the shape differs or the
    candidate is not finite where the reference is."""
    reference, candidate = np.asarray(reference, np.float64).ravel(), np.asarray(candidate, np.float64).ravel()
    if reference.shape != candidate.shape:
        return BROKEN
    finite = np.isfinite(reference)
    if (
        not np.array_equal(reference[~finite], candidate[~finite], equal_nan=True)
        or not np.isfinite(candidate[finite]).all()
    ):
        return BROKEN
    power = np.square(reference[finite]).sum()
    error = np.square(reference[finite] - candidate[finite]).sum()
    if error == 0:
        return EQUAL
    return float(np.clip(10 * np.log10(power / error), BROKEN, EQUAL)) if power > 0 else BROKEN


def sqnr_by_output(reference, candidate):
    """SQNR over all samples together, for each output that holds floats."""
    result = {}
    for name, first in reference[0].items():
        if first.dtype.kind == "f":
            result[name] = sqnr(*(np.concatenate([np.ravel(s[name]) for s in side]) for side in (reference, candidate)))
    return result


def worst_sqnr(reference, candidate):
    return min(sqnr_by_output(reference, candidate).values(), default=EQUAL)


def largest_difference(reference, candidate):
    """max|c - r| / max|r| of the worst float output, each over all samples, as `octet prepare` reports it: what a
    detector says of a picture with nothing in it is rounding alone, and differs between two runs of one model.
    Infinite when a type, a shape, an integer or a value that is not finite differs. None without samples."""
    largest, difference = {}, {}
    for sample, other in zip(reference, candidate):
        for name, expected in sample.items():
            pair = extremes(np.asarray(expected), np.asarray(other[name])) if name in other else (0.0, np.inf)
            largest[name] = max(largest.get(name, 0.0), pair[0])
            difference[name] = max(difference.get(name, 0.0), pair[1])
    ratios = [d / largest[name] if largest[name] > 0 else (0.0 if d == 0 else np.inf) for name, d in difference.items()]
    return float(max(ratios)) if ratios else None


def extremes(expected, given):
    """max|r|, max|c - r|."""
    if expected.dtype != given.dtype or expected.shape != given.shape:
        return 0.0, np.inf
    if expected.dtype.kind != "f":
        return 0.0, 0.0 if np.array_equal(expected, given) else np.inf
    expected, given = expected.astype(np.float64), given.astype(np.float64)
    finite = np.isfinite(expected)
    if not np.array_equal(expected[~finite], given[~finite], equal_nan=True) or not np.isfinite(given[finite]).all():
        return 0.0, np.inf
    expected, given = expected[finite], given[finite]
    return np.abs(expected).max(initial=0.0), np.abs(expected - given).max(initial=0.0)
