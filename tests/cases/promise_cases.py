"""What the user was promised: drift that is found, and no model that got slower."""

import numpy as np

from case_kit import Built, Expect, batches, case, model, node, normal, rng, value, weight


@case("31", Expect(sqnr=(20,), most_floats=200), source="huggingface/transformers.js#1749")
def activation_outlier():
    """One activation channel 300 times larger than the rest: quantizing activations wipes out the others."""
    r = rng(41)
    gain = np.ones(32, np.float32)
    gain[5] = 300
    w = normal(r, 32, 32, scale=0.3)
    w[5] /= 300
    nodes = [node("LayerNormalization", "x gain bias", "n", axis=-1), node("MatMul", "n w", "y")]
    weights = [weight("gain", gain), weight("bias", np.zeros(32, np.float32)), weight("w", w)]
    return Built(
        model(nodes, [value("x", [1, 12, 32])], [value("y", [1, 12, 32])], weights), batches(r, 4, x=(1, 12, 32))
    )


@case("31b", Expect(sqnr=(20,), most_floats=300))
def weight_outlier():
    """One weight row 300 times larger than the rest, met by inputs that are as much smaller."""
    r = rng(141)
    w = normal(r, 32, 64, scale=0.3)
    w[5] *= 300
    samples = batches(r, 4, x=(6, 32))
    for sample in samples:
        sample["x"][:, 5] /= 300
    return Built(
        model([node("MatMul", "x w", "y")], [value("x", [6, 32])], [value("y", [6, 64])], [weight("w", w)]), samples
    )


@case(
    "34",
    Expect(sqnr=(20,), most_floats=200, most_size=0.5, most_latency=1.1),
    "--weight-type",
    "quint8",
    source="microsoft/onnxruntime#6732",
)
def conv_not_slower():
    """Four convolutions: in integers they would run slower than in float."""
    r = rng(45)
    nodes, weights, last = [], [], "x"
    for k in range(4):
        nodes += [node("Conv", f"{last} w{k}", f"c{k}", pads=[1, 1, 1, 1]), node("Relu", f"c{k}", f"r{k}")]
        weights.append(weight(f"w{k}", normal(r, 16, 16, 3, 3, scale=0.11)))
        last = f"r{k}"
    return Built(
        model(nodes, [value("x", [1, 16, 40, 40])], [value(last, [1, 16, 40, 40])], weights),
        batches(r, 2, x=(1, 16, 40, 40)),
    )
