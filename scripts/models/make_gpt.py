#!/usr/bin/env python3
"""Trains a small character GPT (nanoGPT's architecture, 0.2 million parameters) and writes it as ONNX.

Writes tests/data/gpt_char.onnx, gpt_char/calib/*.npz and gpt_char/eval/*.npz with labels.json (the next
characters). The text comes from tale_corpus.py; the seeds are fixed. A few minutes on two cores.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from onnx import TensorProto

from onnx_writer import GraphBuilder, check_export, require, save_model, save_samples, size_of
from tale_corpus import ALPHABET, tales

LAYERS, HEADS, WIDTH, CONTEXT, VOCABULARY = 4, 4, 64, 64, len(ALPHABET)
STEPS, BATCH, RATE, WARMUP = 1500, 32, 3e-3, 100
TRAIN_CHARACTERS, HELD_OUT_CHARACTERS = 1_000_000, 60_000
FILES, FILE_BATCH = 8, 4

MAX_LOSS_SHARE = 0.2  # of the loss of guessing by letter frequency; training as it is reaches 0.13
MIN_TOP1 = 0.80


def encode(text):
    return np.array([ALPHABET.index(c) for c in text], np.int64)


def init_parameters(rng):
    """nanoGPT's initialization: normal 0.02, residual projections scaled down by the depth. Matrices are [in, out]."""
    def normal(*shape, scale=0.02):
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    p = {"wte.weight": normal(VOCABULARY, WIDTH), "wpe.weight": normal(CONTEXT, WIDTH)}
    norms = ["ln_f"] + [f"h.{i}.ln_{j}" for i in range(LAYERS) for j in (1, 2)]
    for name in norms:
        p[f"{name}.weight"], p[f"{name}.bias"] = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    residual = 0.02 / math.sqrt(2 * LAYERS)
    for i in range(LAYERS):
        layers = (("attn.c_attn", WIDTH, 3 * WIDTH, 0.02), ("attn.c_proj", WIDTH, WIDTH, residual),
                  ("mlp.c_fc", WIDTH, 4 * WIDTH, 0.02), ("mlp.c_proj", 4 * WIDTH, WIDTH, residual))
        for name, rows, columns, scale in layers:
            p[f"h.{i}.{name}.weight"] = normal(rows, columns, scale=scale)
            p[f"h.{i}.{name}.bias"] = np.zeros(columns, np.float32)
    return p


def forward(p, idx):
    """Logits [batch, seq, vocabulary]. The head is tied to the token embedding, as in nanoGPT."""
    batch, seq = idx.shape

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / jnp.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5)
        return scaled * p[f"{name}.weight"] + p[f"{name}.bias"]

    def linear(x, name):
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    mask = jnp.where(jnp.tril(jnp.ones((seq, seq))) == 0, -jnp.inf, 0.0)
    x = p["wte.weight"][idx] + p["wpe.weight"][:seq]
    for i in range(LAYERS):
        heads = (batch, seq, HEADS, WIDTH // HEADS)
        q, k, v = (t.reshape(heads).transpose(0, 2, 1, 3)
                   for t in jnp.split(linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn"), 3, -1))
        scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(WIDTH // HEADS) + mask
        mixed = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + linear(mixed, f"h.{i}.attn.c_proj")
        hidden = jax.nn.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate=False)
        x = x + linear(hidden, f"h.{i}.mlp.c_proj")
    return norm(x, "ln_f") @ p["wte.weight"].T


def cross_entropy(p, idx, targets):
    return -jnp.take_along_axis(jax.nn.log_softmax(forward(p, idx)), targets[..., None], -1).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def train_step(p, first, second, step, idx, targets):
    """One step of AdamW with warm-up, cosine decay and clipped gradients; weight decay on matrices only."""
    loss, grads = jax.value_and_grad(cross_entropy)(p, idx, targets)
    norm = jnp.sqrt(sum((g ** 2).sum() for g in grads.values()))
    grads = {k: g / jnp.maximum(norm, 1.0) for k, g in grads.items()}
    progress = (step - WARMUP) / (STEPS - WARMUP)
    rate = RATE * jnp.where(step < WARMUP, step / WARMUP, 0.05 + 0.475 * (1 + jnp.cos(jnp.pi * progress)))
    first = {k: 0.9 * first[k] + 0.1 * g for k, g in grads.items()}
    second = {k: 0.99 * second[k] + 0.01 * g ** 2 for k, g in grads.items()}
    for k in p:
        update = first[k] / (1 - 0.9 ** step) / (jnp.sqrt(second[k] / (1 - 0.99 ** step)) + 1e-8)
        p = p | {k: p[k] - rate * (update + (0.1 * p[k] if p[k].ndim > 1 else 0.0))}
    return p, first, second, loss


def windows(text, starts):
    """Inputs and next characters, both int64 [len(starts), CONTEXT]."""
    at = np.asarray(starts)[:, None] + np.arange(CONTEXT + 1)
    return text[at][:, :-1], text[at][:, 1:]


def train(text):
    rng = np.random.default_rng(1)
    p = {k: jnp.array(v) for k, v in init_parameters(rng).items()}
    first, second = ({k: jnp.zeros_like(v) for k, v in p.items()} for _ in range(2))
    for step in range(1, STEPS + 1):
        idx, targets = windows(text, rng.integers(0, len(text) - CONTEXT - 1, BATCH))
        p, first, second, loss = train_step(p, first, second, jnp.float32(step), idx, targets)
        if step % 250 == 0:
            print(f"step {step}: training loss {float(loss):.3f}", flush=True)
    return {k: np.asarray(v) for k, v in p.items()}


def export(p):
    """The graph as PyTorch writes nanoGPT at opset 17: see tests/data/README.md for what is typical of it."""
    g = GraphBuilder()
    weights = {k: g.weight(k, v) for k, v in p.items() if not (v.ndim == 2 and k.startswith("h."))}

    def scoped(module):
        return ".".join(part for part in (g.scope.replace("/", "."), module) if part)

    def norm(x, module):
        return g.op("LayerNormalization", x, weights[f"{scoped(module)}.weight"], weights[f"{scoped(module)}.bias"],
                    module=module, axis=-1, epsilon=1e-5)

    def linear(x, module):
        product = g.op("MatMul", x, g.transposed_weight(p[f"{scoped(module)}.weight"]), module=module)
        return g.op("Add", weights[f"{scoped(module)}.bias"], product, module=module)

    def dimension(x, axis):
        return g.op("Gather", g.op("Shape", x), g.constant(axis, np.int64), axis=0)

    def integers(*values):
        return g.constant(values, np.int64)

    def causal_mask(seq):
        seq = g.op("Unsqueeze", seq, integers(0))
        ones = g.op("Expand", g.constant(1.0), g.op("Concat", seq, seq, axis=0))
        hidden = g.op("Equal", g.op("Trilu", ones, upper=0), g.constant(0.0))
        return g.op("Where", hidden, g.constant(-np.inf), g.constant(0.0))

    def attention(x, mask):
        batch, seq = (g.op("Unsqueeze", dimension(x, axis), integers(0)) for axis in (0, 1))
        shape = g.op("Concat", batch, seq, integers(HEADS), integers(WIDTH // HEADS), axis=0)
        parts = g.op("Split", linear(x, "c_attn"), integers(WIDTH, WIDTH, WIDTH), outputs=3, axis=2)
        q, k, v = (g.op("Reshape", part, shape) for part in parts)
        q, v = (g.op("Transpose", t, perm=[0, 2, 1, 3]) for t in (q, v))
        k = g.op("Transpose", k, perm=[0, 2, 3, 1])
        # Scaled dot-product attention spreads its scale over both factors, to keep half precision from overflowing.
        root = g.constant((WIDTH // HEADS) ** -0.25)
        scores = g.op("MatMul", g.op("Mul", q, root), g.op("Mul", k, root))
        weighted = g.op("MatMul", g.op("Softmax", g.op("Add", scores, mask), axis=-1), v)
        merged = g.op("Concat", batch, seq, integers(WIDTH), axis=0)
        return linear(g.op("Reshape", g.op("Transpose", weighted, perm=[0, 2, 1, 3]), merged), "c_proj")

    def gelu(x):
        tail = g.op("Erf", g.op("Div", x, g.constant(math.sqrt(2)), module="gelu"), module="gelu")
        product = g.op("Mul", x, g.op("Add", tail, g.constant(1.0), module="gelu"), module="gelu")
        return g.op("Mul", product, g.constant(0.5), module="gelu")

    seq = dimension("idx", 1)
    mask = causal_mask(seq)
    positions = g.op("Range", g.constant(0, np.int64), seq, g.constant(1, np.int64))
    token = g.op("Gather", weights["wte.weight"], "idx", module="wte", axis=0)
    x = g.op("Add", token, g.op("Gather", weights["wpe.weight"], positions, module="wpe", axis=0))
    for i in range(LAYERS):
        g.scope = f"h.{i}"
        normed = norm(x, "ln_1")
        g.scope = f"h.{i}/attn"
        mixed = attention(normed, mask)
        g.scope = f"h.{i}"
        x = g.op("Add", x, mixed)
        normed = norm(x, "ln_2")
        g.scope = f"h.{i}/mlp"
        hidden = linear(gelu(linear(normed, "c_fc")), "c_proj")
        g.scope = f"h.{i}"
        x = g.op("Add", x, hidden)
    g.scope = ""
    head = g.op("Transpose", weights["wte.weight"], module="lm_head", perm=[1, 0])
    g.op("MatMul", norm(x, "ln_f"), head, module="lm_head")
    return g.model("gpt_char", [("idx", TensorProto.INT64, ["batch", "seq"])],
                   [("logits", TensorProto.FLOAT, ["batch", "seq", VOCABULARY])])


def main():
    train_text, held_out = encode(tales(1, TRAIN_CHARACTERS)), encode(tales(2, HELD_OUT_CHARACTERS))
    p = train(train_text)
    session = save_model(export(p), "gpt_char.onnx")

    rng = np.random.default_rng(3)
    calib, _ = windows(train_text, rng.integers(0, len(train_text) - CONTEXT - 1, FILES * FILE_BATCH))
    idx, targets = windows(held_out, rng.integers(0, len(held_out) - CONTEXT - 1, FILES * FILE_BATCH))
    batches, labels = np.split(idx, FILES), np.split(targets, FILES)
    save_samples("gpt_char/calib", "idx", np.split(calib, FILES))
    save_samples("gpt_char/eval", "idx", batches, labels)

    run = jax.jit(forward)
    logits = check_export(session, lambda i: run(p, i), "idx", batches + [batches[0][:1, :17]])[:FILES]
    top1 = np.mean([(l.argmax(-1) == t).mean() for l, t in zip(logits, labels)])
    loss = float(jax.jit(cross_entropy)(p, *windows(held_out, range(0, len(held_out) - CONTEXT - 1, CONTEXT))))
    counts = np.bincount(train_text, minlength=VOCABULARY)
    unigram = float(-np.log(counts / counts.sum())[held_out].mean())
    print(f"{sum(v.size for v in p.values())} parameters; held-out loss {loss:.3f} nats against {unigram:.3f} by "
          f"letter frequency; next character right {top1:.1%}; {size_of('gpt_char.onnx', 'gpt_char')} bytes")
    require(loss < MAX_LOSS_SHARE * unigram, "the model learned too little")
    require(top1 > MIN_TOP1, "too few next characters are right")


if __name__ == "__main__":
    main()
