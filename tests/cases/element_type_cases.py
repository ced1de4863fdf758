"""Models in float16, bfloat16 and double, and weights that are no numbers."""

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from case_kit import Built, Expect, batches, case, model, node, normal, rng, value, weight
from operator_cases import lstm

FLOAT16, BFLOAT16, DOUBLE = TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE


def head_with(bad):
    r = rng(22)
    w = normal(r, 24, 32, scale=0.2)
    w[5, 7] = bad
    return Built(
        model([node("MatMul", "x head_w", "y")], [value("x", [4, 24])], [value("y", [4, 32])], [weight("head_w", w)]),
        batches(r, 3, x=(4, 24)),
    )


@case("19", Expect(fails=("head_w",)), source="NVIDIA/TensorRT#3112")
def nan_weight():
    """A weight that contains NaN."""
    return head_with(np.nan)


@case("19b", Expect(fails=("head_w",)), "--mode", "weights", "--per-channel")
def infinite_weight():
    """A weight that contains infinity, stored per channel."""
    return head_with(-np.inf)


@case("20", Expect(sqnr=(25,), most_floats=200, most_size=0.7), source="microsoft/onnxruntime#15341")
def float16_model():
    """Weights and activations in float16: inputs and outputs stay so."""
    r = rng(24)
    nodes = [node("MatMul", "x w1", "a"), node("Relu", "a", "b"), node("MatMul", "b w2", "y")]
    weights = [
        weight("w1", normal(r, 48, 64, scale=0.2).astype(np.float16)),
        weight("w2", normal(r, 64, 48, scale=0.2).astype(np.float16)),
    ]
    samples = [{"x": normal(r, 4, 48).astype(np.float16)} for _ in range(4)]
    return Built(model(nodes, [value("x", [4, 48], FLOAT16)], [value("y", [4, 48], FLOAT16)], weights), samples)


@case("20b", Expect(sqnr=(25,), most_floats=100, most_size=0.75), "--mode", "weights", "--per-channel")
def float16_conv():
    """A float16 Conv and Gemm, stored per channel."""
    r = rng(124)
    nodes = [
        node("Conv", "x w", "a", pads=[1, 1, 1, 1]),
        node("GlobalAveragePool", "a", "p"),
        node("Flatten", "p", "f"),
        node("Gemm", "f g b", "y", transB=1),
    ]
    weights = [
        weight("w", normal(r, 16, 8, 3, 3, scale=0.2).astype(np.float16)),
        weight("g", normal(r, 24, 16, scale=0.3).astype(np.float16)),
        weight("b", normal(r, 24, scale=0.1).astype(np.float16)),
    ]
    return Built(
        model(nodes, [value("x", [1, 8, 9, 9], FLOAT16)], [value("y", [1, 24], FLOAT16)], weights),
        batches(r, 4, np.float16, x=(1, 8, 9, 9)),
    )


@case("20c", Expect(sqnr=(20, 20, 20), most_floats=1100, most_size=0.75))
def float16_lstm():
    """A float16 LSTM, which the runtime computes in float between casts of its own."""
    return lstm(rng(125), dtype=np.float16, element=FLOAT16)


@case("20d", Expect(sqnr=(25,), most_floats=100, most_size=0.75))
def bfloat16_weights():
    """Weights stored in bfloat16 and cast to float where they are used."""
    r = rng(126)
    nodes = [node("Cast", "w16", "w", to=TensorProto.FLOAT), node("MatMul", "x w", "y")]
    w = normal(r, 64, 96, scale=0.2).astype(ml_dtypes.bfloat16)
    stored = helper.make_tensor("w16", BFLOAT16, w.shape, w.tobytes(), raw=True)
    return Built(model(nodes, [value("x", [4, 64])], [value("y", [4, 96])], [stored]), batches(r, 4, x=(4, 64)))


@case("42", Expect(sqnr=(25,), most_floats=200, excused_by="double"), source="microsoft/onnxruntime#11313")
def double_model():
    """A model in double."""
    r = rng(25)
    nodes = [node("Gemm", "x w1 b", "a"), node("Relu", "a", "c"), node("MatMul", "c w2", "y")]
    weights = [
        weight(name, r.standard_normal(shape) * scale)
        for name, shape, scale in (("w1", (24, 32), 0.3), ("b", 32, 0.1), ("w2", (32, 24), 0.3))
    ]
    samples = [{"x": r.standard_normal((4, 24))} for _ in range(4)]
    return Built(model(nodes, [value("x", [4, 24], DOUBLE)], [value("y", [4, 24], DOUBLE)], weights), samples)


@case("42b", Expect(sqnr=(25,), most_floats=200, excused_by="double"), "--mode", "weights")
def double_table():
    """A table of doubles, gathered, cast and multiplied."""
    r = rng(143)
    nodes = [node("Gather", "table ids", "e"), node("Cast", "e", "f", to=TensorProto.FLOAT), node("MatMul", "f w", "y")]
    weights = [weight("table", normal(r, 100, 32, dtype=np.float64)), weight("w", normal(r, 32, 32, scale=0.2))]
    samples = [{"ids": r.integers(0, 100, (3, 5)).astype(np.int64)} for _ in range(4)]
    return Built(model(nodes, [value("ids", [3, 5], TensorProto.INT64)], [value("y", [3, 5, 32])], weights), samples)
