#!/usr/bin/env python3
"""Trains a small CNN on scikit-learn's 8x8 digits and writes it as ONNX.

Writes tests/data/digits_cnn.onnx, digits_cnn/calib/*.npz (from the training images) and digits_cnn/eval/*.npz
with labels.json (the held-out images). The seeds are fixed. Under a minute on two cores.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from onnx import TensorProto
from sklearn.datasets import load_digits

from onnx_writer import GraphBuilder, check_export, require, save_model, save_samples, size_of

CHANNELS = (1, 16, 24, 32)  # of the image and after each of three convolutions
HIDDEN, CLASSES = 64, 10
POOLED_AFTER = (2, 3)  # convolutions followed by a 2x2 MaxPool: 8x8 -> 4x4 -> 2x2
EPSILON = 1e-5
EPOCHS, BATCH, RATE = 40, 64, 3e-3
HELD_OUT, CALIBRATION, FILES = 360, 128, 8

MIN_ACCURACY = 0.975


def load():
    """(training, held-out), each (images float32 [n, 1, 8, 8] in [0, 1], labels), split by a fixed shuffle."""
    digits = load_digits()
    order = np.random.default_rng(1).permutation(len(digits.target))
    images = (digits.images[order, None] / 16).astype(np.float32)
    labels = digits.target[order]
    return (images[HELD_OUT:], labels[HELD_OUT:]), (images[:HELD_OUT], labels[:HELD_OUT])


def init_parameters(rng):
    """He initialization; names and shapes are PyTorch's."""
    p = {}
    for i, (inputs, outputs) in enumerate(zip(CHANNELS, CHANNELS[1:]), 1):
        p[f"conv{i}.weight"] = rng.standard_normal((outputs, inputs, 3, 3)) * math.sqrt(2 / (9 * inputs))
        p[f"bn{i}.weight"], p[f"bn{i}.bias"] = np.ones(outputs), np.zeros(outputs)
    flat = CHANNELS[-1] * 4
    for name, inputs, outputs in (("fc1", flat, HIDDEN), ("fc2", HIDDEN, CLASSES)):
        p[f"{name}.weight"] = rng.standard_normal((outputs, inputs)) * math.sqrt(2 / inputs)
        p[f"{name}.bias"] = np.zeros(outputs)
    return {k: v.astype(np.float32) for k, v in p.items()}


def forward(p, x, statistics=None):
    """(logits, statistics). Without `statistics` each BatchNormalization uses the batch's own, and returns them."""
    seen = {}
    for i in range(1, len(CHANNELS)):
        x = jax.lax.conv(x, p[f"conv{i}.weight"], (1, 1), "SAME")
        if statistics is None:
            seen[i] = x.mean((0, 2, 3)), x.var((0, 2, 3))
        mean, variance = (s[:, None, None] for s in (statistics or seen)[i])
        scale, shift = (p[f"bn{i}.{k}"][:, None, None] for k in ("weight", "bias"))
        x = jax.nn.relu((x - mean) / jnp.sqrt(variance + EPSILON) * scale + shift)
        if i in POOLED_AFTER:
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    x = jax.nn.relu(x.reshape(len(x), -1) @ p["fc1.weight"].T + p["fc1.bias"])
    return x @ p["fc2.weight"].T + p["fc2.bias"], seen


def cross_entropy(p, x, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(forward(p, x)[0]), labels[:, None], -1).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def train_step(p, first, second, step, rate, x, labels):
    """One step of AdamW."""
    grads = jax.grad(cross_entropy)(p, x, labels)
    first = {k: 0.9 * first[k] + 0.1 * g for k, g in grads.items()}
    second = {k: 0.999 * second[k] + 0.001 * g ** 2 for k, g in grads.items()}
    for k in p:
        update = first[k] / (1 - 0.9 ** step) / (jnp.sqrt(second[k] / (1 - 0.999 ** step)) + 1e-8)
        p = p | {k: p[k] - rate * (update + 0.01 * p[k])}
    return p, first, second


def shifted(images, rng):
    """Moves each image by up to one pixel both ways, the only augmentation that 8x8 pixels bear."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    offsets = rng.integers(0, 3, (len(images), 2))
    return np.stack([image[:, y:y + 8, x:x + 8] for image, (y, x) in zip(padded, offsets)])


def train(images, labels):
    """Parameters and the statistics of the whole training set, which stand in for running averages."""
    rng = np.random.default_rng(2)
    p = {k: jnp.array(v) for k, v in init_parameters(rng).items()}
    first, second = ({k: jnp.zeros_like(v) for k, v in p.items()} for _ in range(2))
    step, steps = 0, EPOCHS * (len(images) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for at in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[at:at + BATCH]
            rate = RATE * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / steps)))
            step += 1
            p, first, second = train_step(p, first, second, jnp.float32(step), jnp.float32(rate),
                                          shifted(images[chosen], rng), labels[chosen])
    _, statistics = jax.jit(forward)(p, images)
    return p, statistics


def export(p, statistics):
    """The graph as PyTorch writes it with BatchNormalization kept, so that fusing it into Conv is left to do."""
    g = GraphBuilder()
    weights = {k: g.weight(k, np.asarray(v)) for k, v in p.items()}
    x = "image"
    for i in range(1, len(CHANNELS)):
        x = g.op("Conv", x, weights[f"conv{i}.weight"], module=f"conv{i}", dilations=[1, 1], group=1,
                 kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1])
        running = [g.weight(f"bn{i}.running_{k}", np.asarray(v)) for k, v in zip(("mean", "var"), statistics[i])]
        x = g.op("BatchNormalization", x, weights[f"bn{i}.weight"], weights[f"bn{i}.bias"], *running,
                 module=f"bn{i}", epsilon=EPSILON)
        x = g.op("Relu", x)
        if i in POOLED_AFTER:
            x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.op("Flatten", x, axis=1)
    x = g.op("Relu", g.op("Gemm", x, weights["fc1.weight"], weights["fc1.bias"], module="fc1", transB=1))
    g.op("Gemm", x, weights["fc2.weight"], weights["fc2.bias"], module="fc2", transB=1)
    return g.model("digits_cnn", [("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
                   [("logits", TensorProto.FLOAT, ["batch", CLASSES])])


def main():
    (images, labels), (held_out, truth) = load()
    p, statistics = train(images, labels)
    session = save_model(export(p, statistics), "digits_cnn.onnx")

    batches, answers = np.split(held_out, FILES), np.split(truth, FILES)
    save_samples("digits_cnn/calib", "image", np.split(images[:CALIBRATION], FILES))
    save_samples("digits_cnn/eval", "image", batches, answers)

    run = jax.jit(forward)
    logits = check_export(session, lambda x: run(p, x, statistics)[0], "image", batches + [held_out[:1]])[:FILES]
    accuracy = np.mean([(l.argmax(-1) == a).mean() for l, a in zip(logits, answers)])
    print(f"{sum(v.size for v in p.values())} parameters; accuracy on {HELD_OUT} held-out digits {accuracy:.2%}; "
          f"{size_of('digits_cnn.onnx', 'digits_cnn')} bytes")
    require(accuracy >= MIN_ACCURACY, "too few held-out digits are right")


if __name__ == "__main__":
    main()
