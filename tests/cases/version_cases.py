"""Old opsets and IR versions, whose operators have other inputs or meanings."""

import numpy as np
from onnx import TensorProto

from case_kit import Built, Expect, batches, case, model, node, normal, rng, value, weight


def convnet(r, opset, ir, tail=()):
    """Conv, BatchNormalization and a Gemm, with initializers listed as inputs as IR 3 demands."""
    nodes = [
        node("Conv", "x w b", "a", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("BatchNormalization", "a gain bias mean var", "n"),
        node("Relu", "n", "q"),
        *tail,
        node("GlobalAveragePool", "t" if tail else "q", "p"),
        node("Flatten", "p", "f"),
        node("Gemm", "f g c", "y", transB=1),
    ]
    arrays = {
        "w": normal(r, 16, 8, 3, 3, scale=0.2),
        "b": normal(r, 16, scale=0.1),
        "gain": np.ones(16, np.float32),
        "bias": normal(r, 16, scale=0.1),
        "mean": normal(r, 16, scale=0.1),
        "var": np.ones(16, np.float32),
        "g": normal(r, 24, 16, scale=0.3),
        "c": normal(r, 24, scale=0.1),
    }
    inputs = [value("x", [1, 8, 8, 8])] + [value(name, list(array.shape)) for name, array in arrays.items() if ir == 3]
    weights = [weight(name, array) for name, array in arrays.items()]
    return inputs, nodes, weights


def built(r, opset, ir, tail=(), extra_weights=(), extra_outputs=()):
    inputs, nodes, weights = convnet(r, opset, ir, tail)
    if ir == 3:
        inputs += [value(t.name, list(t.dims)) for t in extra_weights]
    return Built(
        model(nodes, inputs, [value("y", [1, 24]), *extra_outputs], weights + list(extra_weights), opset=opset, ir=ir),
        batches(r, 4, x=(1, 8, 8, 8)),
    )


@case("57a", Expect(sqnr=(25,), most_floats=200, most_size=0.6))
def opset_7():
    """Opset 7, IR 3, Upsample with its factors as an attribute."""
    r = rng(157)
    return built(r, 7, 3, [node("Upsample", "q", "t", scales=[1.0, 1.0, 2.0, 2.0], mode="nearest")])


@case("57b", Expect(sqnr=(25,), most_floats=200, most_size=0.6))
def opset_8():
    """Opset 8, IR 3, Dropout without a training input."""
    r = rng(158)
    return built(r, 8, 3, [node("Dropout", "q", "t", ratio=0.4)])


@case("57c", Expect(sqnr=(25,), most_floats=200, most_size=0.6))
def opset_9():
    """Opset 9, IR 4, Upsample with its factors as an input."""
    r = rng(159)
    return built(
        r,
        9,
        4,
        [node("Upsample", "q factors", "t", mode="linear")],
        [weight("factors", np.array([1, 1, 2, 2], np.float32))],
    )


@case("57d", Expect(sqnr=(25,), most_floats=200, most_size=0.6), "--mode", "weights", "--per-channel")
def opset_10_per_channel():
    """Per-channel weights where DequantizeLinear has no axis yet: the opset must rise or the form change."""
    return built(rng(160), 10, 5)


@case("57e", Expect(sqnr=(25, None), most_floats=200, most_size=0.6))
def dropout_mask():
    """Dropout whose mask is used: true everywhere when it only infers."""
    r = rng(161)
    return built(
        r,
        13,
        7,
        [node("Dropout", "q ratio", "t mask")],
        [weight("ratio", np.float32(0.4))],
        [value("mask", [1, 16, 8, 8], TensorProto.BOOL)],
    )
