"""A model whose weights are hard to quantize: zeros, constants, denormals, ties, huge values, one element, none."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

ROWS, COLUMNS = 256, 4  # enough values that storing them in 8 bits is worth while


def odd_weights():
    """Name -> matrix [ROWS, columns]. Ties: multiples of half a quantization step, where rounding to even shows."""
    r = np.random.default_rng(20)
    ordinary = r.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    places = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    steps = places % 253 - 126
    weights = {
        "zeros": np.zeros((ROWS, COLUMNS)),
        "negative_zeros": -np.zeros((ROWS, COLUMNS)),
        "constant": np.full((ROWS, COLUMNS), 0.37),
        "negative_constant": np.full((ROWS, COLUMNS), -0.37),
        "positive": np.abs(ordinary) + 1,
        "negative": -np.abs(ordinary) - 1,
        "denormal": ordinary * 1e-40,
        "scale_hardly_normal": ordinary * 1e-36,
        "scale_denormal": ordinary * 1e-37,
        "huge": ordinary / np.abs(ordinary).max() * 3.4e38,
        "ties_signed": np.concatenate([np.full((1, COLUMNS), 127), steps[1:] / 2]),
        "ties_unsigned": np.concatenate([np.full((1, COLUMNS), 255), np.abs(steps[1:]) * 1.5 + 0.5]),
        "one_outlier": np.where(places == 5, 1e4, ordinary),
        "one_dead_column": np.where(np.arange(COLUMNS) == 3, 0, ordinary),
        "one_column": ordinary[:, :1],
    }
    return {name: np.ascontiguousarray(array, np.float32) for name, array in weights.items()}


def odd_model():
    """One MatMul for each weight, and for a tensor of one element and one of none, which must survive."""
    nodes, outputs = [], []
    weights = odd_weights()
    for name, array in weights.items():
        nodes.append(helper.make_node("MatMul", ["x", name], [f"y_{name}"], name=f"product_{name}"))
        outputs.append(helper.make_tensor_value_info(f"y_{name}", TensorProto.FLOAT, [2, array.shape[1]]))
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    tensors += [
        numpy_helper.from_array(np.float32([[0.7]]), "single"),
        numpy_helper.from_array(np.zeros((0, 3), np.float32), "empty"),
    ]
    nodes.append(helper.make_node("MatMul", ["z", "single"], ["y_single"], name="product_single"))
    nodes.append(helper.make_node("MatMul", ["e", "empty"], ["y_empty"], name="product_empty"))
    outputs += [
        helper.make_tensor_value_info("y_single", TensorProto.FLOAT, [2, 1]),
        helper.make_tensor_value_info("y_empty", TensorProto.FLOAT, [2, 3]),
    ]
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in (("x", [2, ROWS]), ("z", [2, 1]), ("e", [2, 0]))
    ]
    graph = helper.make_graph(nodes, "odd", inputs, outputs, tensors)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="octet-golden"
    )
