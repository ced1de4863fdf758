"""Names: nodes without any, and tensors called what a quantizer would call its own."""

import numpy as np
from onnx import TensorProto

from case_kit import Built, Expect, batches, case, graph, model, node, normal, rng, value, weight


@case("25", Expect(sqnr=(20,), most_floats=1100, integer_nodes=1), source="microsoft/onnxruntime#3563")
def taken_names():
    """Tensors already called x_quantized, w_scale, w_zero_point."""
    r = rng(31)
    nodes = [
        node("Mul", "x w_scale", "x_quantized"),
        node("MatMul", "x_quantized w", "y_output_quantized"),
        node("Add", "y_output_quantized w_zero_point", "x_scale"),
        node("MatMul", "x_scale w_quantized", "y"),
    ]
    weights = [
        weight("w", normal(r, 32, 32, scale=0.2)),
        weight("w_quantized", normal(r, 32, 32, scale=0.2)),
        weight("w_scale", np.array([0.5], np.float32)),
        weight("w_zero_point", normal(r, 32, scale=0.1)),
    ]
    return Built(model(nodes, [value("x", [4, 32])], [value("y", [4, 32])], weights), batches(r, 4, x=(4, 32)))


@case("25b", Expect(sqnr=(20,), most_size=0.6))
def taken_names_in_branches():
    """The same names taken inside the branches of an If, and shadowed by both."""
    r = rng(131)

    def branch(op):
        nodes = [
            node("MatMul", "x w_quantized", "w_scale"),
            node("MatMul", "w_scale w", "x_quantized"),
            node(op, "x_quantized", "w_zero_point"),
        ]
        return graph(nodes, [value("w_zero_point", [3, 32])], [weight("w_quantized", normal(r, 32, 48, scale=0.2))])

    nodes = [node("If", "c", "y", then_branch=branch("Relu"), else_branch=branch("Tanh"))]
    samples = [{"x": normal(r, 3, 32), "c": np.array(k % 2 == 0)} for k in range(4)]
    return Built(
        model(
            nodes,
            [value("x", [3, 32]), value("c", [], TensorProto.BOOL)],
            [value("y", [3, 32])],
            [weight("w", normal(r, 48, 32, scale=0.2))],
        ),
        samples,
    )


@case("54", Expect(sqnr=(20,), most_size=0.6), source="microsoft/onnxruntime#7105")
def unnamed_nodes():
    """No node has a name, and two of them share input and weight."""
    r = rng(30)
    nodes = [
        node("MatMul", "x w1", "a", ""),
        node("Relu", "a", "b", ""),
        node("MatMul", "b w2", "c", ""),
        node("MatMul", "b w1", "d", ""),
        node("Add", "c d", "e", ""),
        node("Gemm", "e w3", "f", ""),
        node("Gemm", "f w4", "y", "", transB=1),
    ]
    return Built(
        model(
            nodes,
            [value("x", [4, 32])],
            [value("y", [4, 32])],
            [weight(f"w{k}", normal(r, 32, 32, scale=0.2)) for k in (1, 2, 3, 4)],
        ),
        batches(r, 4, x=(4, 32)),
    )


@case("54b", Expect(sqnr=(20,), most_size=0.6))
def unnamed_in_subgraph():
    """Nodes without names inside branches and around them, sharing weights of the outer graph."""
    r = rng(130)

    def branch(w):
        return graph(
            [node("MatMul", f"h {w}", "m" + w, ""), node("Relu", "m" + w, "o" + w, "")], [value("o" + w, [4, 48])]
        )

    nodes = [
        node("MatMul", "x w1", "a", ""),
        node("MatMul", "a w2", "h", ""),
        node("If", "c", "y", "", then_branch=branch("w3"), else_branch=branch("w4")),
    ]
    shapes = {"w1": (32, 32), "w2": (32, 32), "w3": (32, 48), "w4": (32, 48)}
    samples = [{"x": normal(r, 4, 32), "c": np.array(k % 2 == 0)} for k in range(4)]
    return Built(
        model(
            nodes,
            [value("x", [4, 32]), value("c", [], TensorProto.BOOL)],
            [value("y", [4, 48])],
            [weight(name, normal(r, *shape, scale=0.2)) for name, shape in shapes.items()],
        ),
        samples,
    )
