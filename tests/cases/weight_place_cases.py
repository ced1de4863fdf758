"""Where weights can stand: behind Casts and Constants, in functions and subgraphs, shared, outside the file."""

import numpy as np
from onnx import TensorProto, helper

from case_kit import Built, Expect, batches, case, constant, graph, model, node, normal, rng, value, weight

BOOL, INT64 = TensorProto.BOOL, TensorProto.INT64


@case("01", Expect(sqnr=(25,), most_floats=200), "--weight-type", "quint8", source="microsoft/onnxruntime#13358")
def cast_weight():
    """A Conv weight stored as float16 and reached through a Cast."""
    r = rng(1)
    w = normal(r, 16, 8, 3, 3, scale=0.1).astype(np.float16)
    nodes = [node("Cast", "w16", "w", to=TensorProto.FLOAT), node("Conv", "x w b", "y", pads=[1, 1, 1, 1])]
    weights = [weight("w16", w), weight("b", normal(r, 16, scale=0.1))]
    return Built(
        model(nodes, [value("x", [1, 8, 12, 12])], [value("y", [1, 16, 12, 12])], weights),
        batches(r, 4, x=(1, 8, 12, 12)),
    )


@case("01b", Expect(sqnr=(25,), most_floats=200))
def identity_chain_weight():
    """A MatMul weight behind Identity, Cast and Identity."""
    r = rng(101)
    nodes = [
        node("Identity", "w64", "i"),
        node("Cast", "i", "c", to=TensorProto.FLOAT),
        node("Identity", "c", "w"),
        node("MatMul", "x w", "y"),
    ]
    return Built(
        model(
            nodes,
            [value("x", [4, 48])],
            [value("y", [4, 64])],
            [weight("w64", normal(r, 48, 64, scale=0.2, dtype=np.float64))],
        ),
        batches(r, 4, x=(4, 48)),
    )


@case("02", Expect(sqnr=(20,), most_size=0.45), source="microsoft/onnxruntime#18671")
def constant_node_lstm():
    """LSTM and MatMul weights held in Constant nodes, as scripted exports have them."""
    r, hidden, inputs = rng(2), 32, 24
    nodes = [
        constant("W", normal(r, 1, 4 * hidden, inputs, scale=0.2)),
        constant("R", normal(r, 1, 4 * hidden, hidden, scale=0.2)),
        constant("B", normal(r, 1, 8 * hidden, scale=0.05)),
        constant("P", normal(r, hidden, 64, scale=0.2)),
        constant("axis", np.array([1], np.int64)),
        node("LSTM", "x W R B", "h", hidden_size=hidden),
        node("Squeeze", "h axis", "hs"),
        node("MatMul", "hs P", "y"),
    ]
    return Built(model(nodes, [value("x", [6, 1, inputs])], [value("y", [6, 1, 64])]), batches(r, 4, x=(6, 1, inputs)))


@case("09", Expect(sqnr=(20,), most_size=0.45), source="microsoft/onnxruntime#21277")
def tied_embedding():
    """One table used by Gather and, transposed, by the output MatMul."""
    return tied_tables(rng(9), 256, ["Gather_e", "MatMul_y"])


@case("09b", Expect(sqnr=(20,), most_size=0.45))
def table_of_three():
    """A table that two Gathers and a transposed MatMul share."""
    return tied_tables(rng(109), 256, ["Gather_e", "Gather_e2", "MatMul_y"])


def tied_tables(r, rows, consumers, width=32):
    nodes = [node("Gather", "table ids", "e")]
    joined = "e"
    if "Gather_e2" in consumers:
        nodes += [node("Gather", "table next", "e2"), node("Add", "e e2", "e3")]
        joined = "e3"
    nodes += [
        node("MatMul", f"{joined} w", "h0"),
        node("Tanh", "h0", "h"),
        node("Transpose", "table", "tableT", perm=[1, 0]),
        node("MatMul", "h tableT", "y"),
    ]
    names = ["ids"] + ["next"] * ("Gather_e2" in consumers)
    samples = [{name: r.integers(0, rows, (1, 7)).astype(np.int64) for name in names} for _ in range(4)]
    weights = [weight("table", normal(r, rows, width, scale=0.3)), weight("w", normal(r, width, width, scale=0.3))]
    return Built(
        model(nodes, [value(name, [1, 7], INT64) for name in names], [value("y", [1, 7, rows])], weights), samples
    )


@case("33", Expect(sqnr=(20,), most_size=0.5), source="microsoft/onnxruntime#28716")
def function_body():
    """Weights applied inside a local function, as newer exporters write them."""
    r = rng(44)
    dense = helper.make_function(
        "pkg.local",
        "Dense",
        ["a", "k"],
        ["o"],
        [node("MatMul", "a k", "t"), node("Relu", "t", "o")],
        [helper.make_opsetid("", 17)],
    )
    nodes = [node("Dense", "x w1", "h", domain="pkg.local"), node("Dense", "h w2", "y", domain="pkg.local")]
    weights = [weight(name, normal(r, 48, 48, scale=0.2)) for name in ("w1", "w2")]
    return Built(
        model(
            nodes, [value("x", [4, 48])], [value("y", [4, 48])], weights, domains=[("pkg.local", 1)], functions=[dense]
        ),
        batches(r, 4, x=(4, 48)),
    )


@case("33b", Expect(sqnr=(20,), most_size=0.5))
def nested_function_constants():
    """A function that calls another whose weight is a Constant of its own body, called twice."""
    r = rng(144)
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("pkg.local", 1)]
    inner = helper.make_function(
        "pkg.local",
        "Inner",
        ["a"],
        ["o"],
        [constant("k", normal(r, 48, 48, scale=0.2)), node("MatMul", "a k", "o")],
        opset,
    )
    outer = helper.make_function(
        "pkg.local", "Outer", ["a"], ["o"], [node("Inner", "a", "t", domain="pkg.local"), node("Relu", "t", "o")], opset
    )
    nodes = [node("Outer", "x", "h", domain="pkg.local"), node("Outer", "h", "y", domain="pkg.local")]
    return Built(
        model(
            nodes, [value("x", [4, 48])], [value("y", [4, 48])], domains=[("pkg.local", 1)], functions=[inner, outer]
        ),
        batches(r, 4, x=(4, 48)),
    )


def branch(r, tag, shape, w=None, op="Relu"):
    nodes = [node("MatMul", f"x {w or 'w_' + tag}", "m_" + tag), node(op, "m_" + tag, "o_" + tag)]
    own = [] if w else [weight("w_" + tag, normal(r, *shape, scale=0.2))]
    return graph(nodes, [value("o_" + tag, [3, shape[1]])], own, name="branch_" + tag)


def switched(r, rows, columns, nodes, weights=()):
    samples = [{"x": normal(r, 3, rows), "c": np.array(k % 2 == 0)} for k in range(4)]
    return Built(
        model(nodes, [value("x", [3, rows]), value("c", [], BOOL)], [value("y", [3, columns])], weights), samples
    )


@case("10", Expect(sqnr=(20,), most_size=0.5), source="microsoft/onnxruntime#8488")
def if_branches():
    """Weights used only inside the branches of an If."""
    r = rng(10)
    branches = {f"{tag}_branch": branch(r, tag[0], (48, 64)) for tag in ("then", "else")}
    return switched(r, 48, 64, [node("If", "c", "y", **branches)])


@case("10b", Expect(sqnr=(20,), most_size=0.5))
def nested_if():
    """An If inside a branch of an If, weights at both depths."""
    r = rng(110)
    inner = node("If", "c", "i", then_branch=branch(r, "a", (48, 64)), else_branch=branch(r, "b", (48, 64)))
    then = graph([inner, node("Abs", "i", "o_t")], [value("o_t", [3, 64])], name="then")
    return switched(r, 48, 64, [node("If", "c", "y", then_branch=then, else_branch=branch(r, "e", (48, 64)))])


@case("10c", Expect(sqnr=(20,), most_size=0.5))
def loop_body():
    """A Loop whose body multiplies by a weight of its own and by one of the outer graph."""
    r = rng(111)
    body = graph(
        [
            node("MatMul", "s_in own", "m"),
            node("MatMul", "m outer", "n"),
            node("Tanh", "n", "s_out"),
            node("Identity", "cond_in", "cond_out"),
        ],
        [value("cond_out", [], BOOL), value("s_out", [3, 48])],
        [weight("own", normal(r, 48, 64, scale=0.2))],
        [value("i", [], INT64), value("cond_in", [], BOOL), value("s_in", [3, 48])],
    )
    nodes = [node("Loop", "count - x", "y", body=body)]
    weights = [weight("count", np.array(3, np.int64)), weight("outer", normal(r, 64, 48, scale=0.2))]
    return Built(model(nodes, [value("x", [3, 48])], [value("y", [3, 48])], weights), batches(r, 4, x=(3, 48)))


@case("10d", Expect(sqnr=(20,), most_size=0.5))
def scan_body():
    """A Scan over time with the recurrent weights inside its body."""
    r = rng(112)
    body = graph(
        [
            node("MatMul", "s_in R", "a"),
            node("MatMul", "x_t W", "b"),
            node("Add", "a b", "sum"),
            node("Tanh", "sum", "s_out"),
            node("Identity", "s_out", "y_t"),
        ],
        [value("s_out", [2, 32]), value("y_t", [2, 32])],
        [weight("R", normal(r, 32, 32, scale=0.2)), weight("W", normal(r, 24, 32, scale=0.2))],
        [value("s_in", [2, 32]), value("x_t", [2, 24])],
    )
    nodes = [node("Scan", "s x", "s_last y", body=body, num_scan_inputs=1)]
    return Built(
        model(nodes, [value("s", [2, 32]), value("x", [5, 2, 24])], [value("y", [5, 2, 32])]),
        batches(r, 4, s=(2, 32), x=(5, 2, 24)),
    )


@case("38", Expect(sqnr=(20,), most_size=0.5), source="microsoft/onnxruntime#19421")
def shared_outer_weight():
    """Both branches use one initializer of the outer graph, as merged decoders do."""
    r = rng(11)
    w = weight("w", normal(r, 64, 96, scale=0.15))
    branches = {"then_branch": branch(r, "t", (64, 96), "w"), "else_branch": branch(r, "e", (64, 96), "w", "Tanh")}
    return switched(r, 64, 96, [node("If", "c", "y", **branches)], [w])


@case("38b", Expect(sqnr=(20,), most_size=0.5))
def outer_table_tied_in_branch():
    """A table gathered in the outer graph and multiplied, transposed, inside one branch."""
    r = rng(138)
    then = graph(
        [node("Transpose", "table", "tableT", perm=[1, 0]), node("MatMul", "e tableT", "o_t")],
        [value("o_t", [5, 128])],
        name="then",
    )
    other = graph(
        [node("MatMul", "e w_e", "o_e")],
        [value("o_e", [5, 128])],
        [weight("w_e", normal(r, 32, 128, scale=0.2))],
        name="else",
    )
    nodes = [node("Gather", "table ids", "e"), node("If", "c", "y", then_branch=then, else_branch=other)]
    samples = [{"ids": r.integers(0, 128, 5).astype(np.int64), "c": np.array(k % 2 == 0)} for k in range(4)]
    return Built(
        model(
            nodes,
            [value("ids", [5], INT64), value("c", [], BOOL)],
            [value("y", [5, 128])],
            [weight("table", normal(r, 128, 32, scale=0.3))],
        ),
        samples,
    )


@case("32", Expect(fails=("model.onnx.data",)), source="microsoft/onnxruntime#13006")
def missing_external_data():
    """Weights in an external data file that is missing."""
    r = rng(42)
    return Built(
        model(
            [node("MatMul", "x w", "y")],
            [value("x", [4, 32])],
            [value("y", [4, 64])],
            [weight("w", normal(r, 32, 64, scale=0.2))],
        ),
        batches(r, 2, x=(4, 32)),
        external={"model.onnx.data": ["w"]},
        lost=("model.onnx.data",),
    )


@case("32b", Expect(sqnr=(25,), most_floats=200, most_size=0.4))
def external_data_in_two_files():
    """Three weights in two external files, with offsets and gaps."""
    r = rng(142)
    nodes = [
        node("MatMul", "x w1", "a"),
        node("Relu", "a", "b"),
        node("MatMul", "b w2", "c"),
        node("MatMul", "c w3", "y"),
    ]
    weights = [weight(f"w{k}", normal(r, 48, 48, scale=0.2)) for k in (1, 2, 3)]
    return Built(
        model(nodes, [value("x", [4, 48])], [value("y", [4, 48])], weights),
        batches(r, 4, x=(4, 48)),
        external={"first.bin": ["w1", "w3"], "second.bin": ["w2"]},
    )


@case("22b", Expect(sqnr=(25,), most_floats=200))
def overridable_initializer():
    """IR 8: a weight that is an input too, a default that callers may override."""
    r = rng(122)
    nodes = [node("MatMul", "x w", "a"), node("Add", "a b", "y")]
    weights = [weight("w", normal(r, 32, 64, scale=0.2)), weight("b", normal(r, 64, scale=0.1))]
    inputs = [value("x", [4, 32]), value("w", [32, 64]), value("b", [64])]
    return Built(model(nodes, inputs, [value("y", [4, 64])], weights), batches(r, 4, x=(4, 32)))
