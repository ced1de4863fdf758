"""Operators in their less common forms: Gemm with factors, batched products, groups, both LSTM directions, blocks."""

import numpy as np
from onnx import TensorProto

from case_kit import Built, Expect, batches, case, model, node, normal, rng, value, weight

INT32 = TensorProto.INT32


@case(
    "03",
    Expect(sqnr=(25,), most_floats=200, most_size=0.6),
    "--weight-type",
    "qint8",
    source="microsoft/onnxruntime#15888",
)
def conv_int8():
    """Conv with signed 8-bit weights: some integer forms of it do not load on a CPU."""
    r = rng(3)
    nodes = [node("Conv", "x w b", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "y")]
    weights = [weight("w", normal(r, 16, 8, 3, 3, scale=0.1)), weight("b", normal(r, 16, scale=0.1))]
    return Built(
        model(nodes, [value("x", [1, 8, 12, 12])], [value("y", [1, 16, 12, 12])], weights),
        batches(r, 4, x=(1, 8, 12, 12)),
    )


@case("03b", Expect(sqnr=(25,), most_floats=200, most_size=0.6, integer_nodes=1), "--op-types", "Conv")
def conv_in_integers():
    """Conv in integers, because it was asked for."""
    return conv_int8()


@case("03c", Expect(sqnr=(25,), most_floats=100, most_size=0.5))
def grouped_transposed_conv():
    """ConvTranspose with groups: its output channels stand on two axes."""
    r = rng(103)
    nodes = [node("ConvTranspose", "x w b", "y", group=4, strides=[2, 2], kernel_shape=[4, 4], pads=[1, 1, 1, 1])]
    weights = [
        weight("w", normal(r, 16, 6, 4, 4, scale=0.2) * np.exp2(np.arange(6)).reshape(1, 6, 1, 1).astype(np.float32)),
        weight("b", normal(r, 24, scale=0.1)),
    ]
    return Built(
        model(nodes, [value("x", [1, 16, 6, 6])], [value("y", [1, 24, 12, 12])], weights),
        batches(r, 4, x=(1, 16, 6, 6)),
    )


@case("03d", Expect(sqnr=(25,), most_floats=200, most_size=0.5), "--per-channel")
def one_dimensional_depthwise():
    """Depthwise Conv over one dimension, per channel."""
    r = rng(104)
    nodes = [node("Conv", "x w", "a", group=64, pads=[4, 4]), node("Conv", "a p", "y")]
    weights = [weight("w", normal(r, 64, 1, 9, scale=0.4)), weight("p", normal(r, 48, 64, 1, scale=0.2))]
    return Built(
        model(nodes, [value("x", [1, 64, 20])], [value("y", [1, 48, 20])], weights), batches(r, 4, x=(1, 64, 20))
    )


def gemm(r, a_shape, w_shape, bias_shape, **attributes):
    rows = a_shape[1] if attributes.get("transA") else a_shape[0]
    columns = w_shape[0] if attributes.get("transB") else w_shape[1]
    weights = [weight("w", normal(r, *w_shape, scale=0.2)), weight("b", normal(r, *bias_shape, scale=0.5))]
    return Built(
        model(
            [node("Gemm", "x w b", "y", **attributes)],
            [value("x", list(a_shape))],
            [value("y", [rows, columns])],
            weights,
        ),
        batches(r, 4, x=a_shape),
    )


@case("06b", Expect(sqnr=(25,), most_floats=200, most_size=0.6))
def gemm_alpha_beta():
    """Gemm with alpha, beta and transB."""
    return gemm(rng(106), (5, 40), (72, 40), (72,), alpha=0.5, beta=2.0, transB=1)


@case("06c", Expect(sqnr=(25,), most_floats=500, most_size=0.7))
def gemm_transposed_data():
    """Gemm that transposes its data, with a bias of two dimensions."""
    return gemm(rng(107), (40, 5), (40, 72), (5, 72), alpha=1.5, transA=1)


@case("06d", Expect(sqnr=(25,), most_floats=100, most_size=0.6))
def gemm_weight_first():
    """Gemm and MatMul whose constant side is the first."""
    r = rng(108)
    nodes = [node("Gemm", "w x", "a"), node("MatMul", "v a", "y")]
    weights = [weight("w", normal(r, 48, 40, scale=0.2)), weight("v", normal(r, 32, 48, scale=0.2))]
    return Built(model(nodes, [value("x", [40, 7])], [value("y", [32, 7])], weights), batches(r, 4, x=(40, 7)))


@case(
    "27",
    Expect(sqnr=(25,), least_floats=1024, most_floats=1200),
    "--nodes-to-exclude",
    "head",
    source="microsoft/onnxruntime#19503",
)
def excluded_gemm():
    """An excluded Gemm that gets another name inside the tool keeps its float weights all the same."""
    r = rng(34)
    nodes = [
        node("Gemm", "x w1 b1", "a", name="body", transB=1),
        node("Relu", "a", "b"),
        node("Gemm", "b w2 b2", "y", name="head", transB=1),
    ]
    weights = [
        weight(name, normal(r, *shape, scale=scale))
        for name, shape, scale in (("w1", (32, 32), 0.2), ("b1", (32,), 0.1), ("w2", (32, 32), 0.2), ("b2", (32,), 0.1))
    ]
    return Built(model(nodes, [value("x", [4, 32])], [value("y", [4, 32])], weights), batches(r, 4, x=(4, 32)))


@case("27b", Expect(sqnr=(25,), least_floats=1024, most_floats=1200), "--nodes-to-quantize", "bo*")
def chosen_gemm():
    """The same, by a list of what to quantize."""
    return excluded_gemm()


@case("37", Expect(sqnr=(25,), most_size=0.5), source="microsoft/onnxruntime#25890")
def gemm_with_value_info():
    """Gemm with transB in a model whose value_info also describes the weight."""
    r = rng(6)
    weights = [weight("w", normal(r, 72, 40, scale=0.2)), weight("b", normal(r, 72, scale=0.1))]
    return Built(
        model(
            [node("Gemm", "x w b", "y", transB=1)],
            [value("x", [5, 40])],
            [value("y", [5, 72])],
            weights,
            shapes=[value("w", [72, 40]), value("b", [72])],
        ),
        batches(r, 4, x=(5, 40)),
    )


@case("35b", Expect(sqnr=(25,), most_floats=100, most_size=0.5))
def batched_weight():
    """MatMul with a weight per head."""
    r = rng(135)
    return Built(
        model(
            [node("MatMul", "x w", "y")],
            [value("x", [4, 6, 32])],
            [value("y", [4, 6, 24])],
            [weight("w", normal(r, 4, 32, 24, scale=0.2))],
        ),
        batches(r, 4, x=(4, 6, 32)),
    )


@case("35c", Expect(sqnr=(25,), most_floats=100, most_size=0.7))
def vector_weight():
    """MatMul with a weight of one dimension."""
    r = rng(136)
    return Built(
        model(
            [node("MatMul", "x w", "y")],
            [value("x", [6, 1200])],
            [value("y", [6])],
            [weight("w", normal(r, 1200, scale=0.2))],
        ),
        batches(r, 4, x=(6, 1200)),
    )


def lstm(r, inputs=24, hidden=32, batch=2, steps=6, dtype=np.float32, element=TensorProto.FLOAT, opset=17):
    """Bidirectional, with initial states and without peepholes."""
    nodes = [node("LSTM", "x W R B - h0 c0", "y h c", hidden_size=hidden, direction="bidirectional")]
    weights = [
        weight("W", normal(r, 2, 4 * hidden, inputs, scale=0.2, dtype=dtype)),
        weight("R", normal(r, 2, 4 * hidden, hidden, scale=0.2, dtype=dtype)),
        weight("B", normal(r, 2, 8 * hidden, scale=0.05, dtype=dtype)),
    ]
    shapes = {"x": (steps, batch, inputs), "h0": (2, batch, hidden), "c0": (2, batch, hidden)}
    outputs = [
        value("y", [steps, 2, batch, hidden], element),
        value("h", [2, batch, hidden], element),
        value("c", [2, batch, hidden], element),
    ]
    return Built(
        model(
            nodes, [value(name, list(shape), element) for name, shape in shapes.items()], outputs, weights, opset=opset
        ),
        batches(r, 4, dtype, **shapes),
    )


@case("02b", Expect(sqnr=(20, 20, 20), most_floats=1100, most_size=0.45))
def bidirectional_lstm():
    """Both directions, with initial states and the peephole inputs left out."""
    return lstm(rng(102))


@case("02c", Expect(sqnr=(20, 20), most_floats=500, most_size=0.5), "--mode", "weights")
def gru_reset_after():
    """GRU with linear_before_reset: stored in 8 bits, computed in float."""
    r, hidden, inputs = rng(113), 32, 24
    weights = [
        weight("W", normal(r, 1, 3 * hidden, inputs, scale=0.2)),
        weight("R", normal(r, 1, 3 * hidden, hidden, scale=0.2)),
        weight("B", normal(r, 1, 6 * hidden, scale=0.05)),
    ]
    return Built(
        model(
            [node("GRU", "x W R B", "y h", hidden_size=hidden, linear_before_reset=1)],
            [value("x", [6, 2, inputs])],
            [value("y", [6, 1, 2, hidden]), value("h", [1, 2, hidden])],
            weights,
        ),
        batches(r, 4, x=(6, 2, inputs)),
    )


@case("55b", Expect(sqnr=(20,), most_floats=500, most_size=0.5))
def fused_attention():
    """com.microsoft Attention with the weights of query, key and value in one."""
    r = rng(155)
    nodes = [node("Attention", "x w b", "y", domain="com.microsoft", num_heads=4)]
    weights = [weight("w", normal(r, 64, 192, scale=0.1)), weight("b", normal(r, 192, scale=0.05))]
    return Built(
        model(nodes, [value("x", [1, 9, 64])], [value("y", [1, 9, 64])], weights, domains=[("com.microsoft", 1)]),
        batches(r, 4, x=(1, 9, 64)),
    )


@case("55c", Expect(sqnr=(20,), most_floats=200, most_size=0.5))
def fused_embedding():
    """com.microsoft EmbedLayerNormalization: three tables in one operator."""
    r, rows, width = rng(156), 300, 32
    nodes = [
        node("EmbedLayerNormalization", "ids kinds words places segments gain bias", "e mask", domain="com.microsoft"),
        node("MatMul", "e w", "y"),
    ]
    weights = [
        weight("words", normal(r, rows, width)),
        weight("places", normal(r, 64, width)),
        weight("segments", normal(r, 2, width)),
        weight("gain", np.ones(width, np.float32)),
        weight("bias", np.zeros(width, np.float32)),
        weight("w", normal(r, width, width, scale=0.2)),
    ]
    samples = [
        {"ids": r.integers(0, rows, (1, 12)).astype(np.int32), "kinds": r.integers(0, 2, (1, 12)).astype(np.int32)}
        for _ in range(4)
    ]
    return Built(
        model(
            nodes,
            [value("ids", [1, 12], INT32), value("kinds", [1, 12], INT32)],
            [value("y", [1, 12, width])],
            weights,
            domains=[("com.microsoft", 1)],
        ),
        samples,
    )


@case("28", Expect(runs=False, most_floats=200), source="microsoft/onnxruntime#23191")
def unknown_domain():
    """A node from an unknown domain, without schema or shapes: the runtime cannot run it, quantizing needs no run."""
    r = rng(37)
    nodes = [
        node("MatMul", "x w1", "a"),
        node("Mystery", "a", "b", domain="acme.ops", gain=2.0),
        node("MatMul", "b w2", "y"),
    ]
    return Built(
        model(
            nodes,
            [value("x", [4, 32])],
            [value("y", None)],
            [weight(name, normal(r, 32, 32, scale=0.2)) for name in ("w1", "w2")],
            domains=[("acme.ops", 1)],
        ),
        batches(r, 2, x=(4, 32)),
        checked=False,
    )
