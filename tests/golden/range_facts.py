"""The tensors whose ranges are compared, and what the reference tool says of one."""

import contextlib
import hashlib
import io

import numpy as np
from onnx import TensorProto, helper, numpy_helper

ROWS, COLUMNS, SAMPLES = 200, 64, 4
BINS, LEVELS, PERCENTILE = 2048, 128, 99.9
NEAR = 1.05  # divergences up to this times the least are as good (test_ranges.py says why)


def bell(random, count):
    """A bell of width 1: only sums of uniform numbers, which every version of NumPy makes alike."""
    return random.random((12, count)).sum(axis=0) - 6


def made_tensors():
    """Name -> one array per sample: the shapes that activations have, and odd ones."""
    random, count = np.random.default_rng(2026), ROWS * COLUMNS

    def samples(make):
        return [np.ascontiguousarray(make(i).reshape(ROWS, COLUMNS), np.float32) for i in range(SAMPLES)]

    def heavy(_):
        return bell(random, count) / (random.random(count) + 0.02)

    return {
        "bell": samples(lambda i: bell(random, count)),
        "shifted": samples(lambda i: bell(random, count) * 0.4 + 3),
        "growing": samples(lambda i: bell(random, count) * (i + 1)),
        "shrinking": samples(lambda i: bell(random, count) / (i + 1)),
        "relu": samples(lambda i: np.maximum(bell(random, count), 0)),
        "negative": samples(lambda i: -np.abs(bell(random, count)) - 0.5),
        "uniform": samples(lambda i: random.random(count) * 5 - 1),
        "heavy": samples(heavy),
        "heavy_relu": samples(lambda i: np.maximum(heavy(i), 0)),
        "outliers": samples(lambda i: np.where(random.random(count) < 1e-4, 40, bell(random, count))),
        "two_humps": samples(lambda i: bell(random, count) * 0.2 + np.where(random.random(count) < 0.3, 4, -1)),
        "few_values": samples(lambda i: np.floor(random.random(count) * 5)),
        "small": samples(lambda i: bell(random, count) * 1e-20),
        "huge": samples(lambda i: bell(random, count) * 1e30),
        "constant": samples(lambda i: np.full(count, 0.37)),
        "zeros": samples(lambda i: np.zeros(count)),
    }


def digest(arrays):
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()[:16]


def carrier_model(names):
    """One MatMul for each tensor, so that the tensor is an activation of an integer operator."""
    weight = np.linspace(-1, 1, COLUMNS * 32, dtype=np.float32).reshape(COLUMNS, 32)
    nodes = [helper.make_node("MatMul", [n, f"w_{n}"], [f"y_{n}"], name=f"product_{n}") for n in names]
    graph = helper.make_graph(
        nodes,
        "ranges",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [ROWS, COLUMNS]) for n in names],
        [helper.make_tensor_value_info(f"y_{n}", TensorProto.FLOAT, [ROWS, 32]) for n in names],
        [numpy_helper.from_array(weight, f"w_{n}") for n in names],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="octet-golden"
    )


def reference_range(arrays, method, symmetric=False):
    from onnxruntime.quantization.calibrate import HistogramCollector

    with contextlib.redirect_stdout(io.StringIO()):
        collector = HistogramCollector(method, symmetric, BINS, LEVELS, PERCENTILE, "same")
        collector.collect({"x": [a.ravel() for a in arrays]})
        low, high = collector.compute_collection_result()["x"][:2]
    return short([low, high])


def short(values):
    """As few digits as tell the float32 numbers apart."""
    return [float(str(np.float32(value))) for value in values]


def reference_facts(arrays):
    """The range by each method, and which ranges its entropy search finds as good; arrays of one shape."""
    return {
        "minmax": short([min(a.min() for a in arrays), max(a.max() for a in arrays)]),
        "average": short(np.mean([[a.min(), a.max()] for a in arrays], axis=0, dtype=np.float64)),
        "percentile": reference_range(arrays, "percentile"),
        "percentile_symmetric": reference_range(arrays, "percentile", True),
        "entropy": reference_range(arrays, "entropy"),
        "near": near_ranges(arrays),
    }


def near_ranges(arrays):
    """Runs of candidates whose divergence is at most NEAR times the least: [narrowest range, widest range]."""
    values = np.concatenate([a.ravel() for a in arrays])
    lowest, highest = values.min(), values.max()
    most = max(-lowest, highest)
    if most == 0:
        return []
    counts, edges = np.histogram(values, BINS, range=(-most, most))
    middle = BINS // 2
    halves = np.arange(LEVELS // 2, middle + 1)
    divergences = np.array([divergence(counts, middle - h, min(middle + h + 1, BINS)) for h in halves])
    if not np.isfinite(divergences).any():
        return []
    good = halves[divergences <= divergences.min() * NEAR]
    # What lies less than a hundredth of the whole apart is one run.
    breaks = np.flatnonzero(np.diff(good) > middle / 100)
    starts, ends = good[np.r_[0, breaks + 1]], good[np.r_[breaks, len(good) - 1]]

    def clipped(half):
        return short([max(edges[middle - half], lowest), min(edges[min(middle + half + 1, BINS)], highest)])

    return [[clipped(start), clipped(end)] for start, end in zip(starts, ends, strict=True)]


def divergence(counts, start, end):
    """The reference's rule in double precision, straight from its definition in core/src/calibrate/entropy_range.cc."""
    kept = counts[start:end].astype(float)
    p = kept.copy()
    p[0] += counts[:start].sum()
    p[-1] += counts[end:].sum()
    length = len(p) // LEVELS
    whole = length * LEVELS
    groups = kept[:whole].reshape(LEVELS, length).sum(axis=1)
    groups[-1] += kept[whole:].sum()
    occupied = (p[:whole] != 0).reshape(LEVELS, length).sum(axis=1)
    levels = np.floor(np.divide(groups, occupied, out=np.zeros(LEVELS), where=occupied > 0))
    q = np.zeros(len(p))
    q[:whole] = np.repeat(levels, length)
    if not q.any():
        return np.inf
    p, q = smoothed(p), smoothed(q)
    return float((p * np.log(p / q)).sum())


def smoothed(counts):
    empty = counts == 0
    counts = np.where(empty, 1e-4, counts - 1e-4 * empty.sum() / (~empty).sum())
    return counts / counts.sum()
