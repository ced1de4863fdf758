"""Writes models whose weights stand in a file of their own and are larger than 2 GB.

    python large_model.py FOLDER [GB]       a chain of matrices of 268 MB each
    python large_model.py FOLDER --one GB   a single matrix of zeros, larger than a page can hold; no room on the disk

model.onnx and model.onnx.data, written piece by piece, so that it takes little memory; the same call writes the same
bytes.
"""

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

SIDE = 8192
PIECE = 1 << 20  # elements


def external_tensor(name, location, offset, length, side=SIDE):
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[side, side])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def write_large_model(folder, gigabytes=3):
    length = 4 * SIDE * SIDE
    layers = -(-int(gigabytes * 1e9) // length)
    piece = np.random.default_rng(1).standard_normal(PIECE, dtype=np.float32) / np.float32(np.sqrt(SIDE))
    with open(folder / "model.onnx.data", "wb") as file:
        for layer in range(layers):
            for i in range(SIDE * SIDE // PIECE):
                # No two rows alike, and no two matrices.
                file.write((np.roll(piece, 7919 * i + layer) * np.float32(1 + layer / layers)).tobytes())
    write_chain(folder, [external_tensor(f"w{i}", "model.onnx.data", i * length, length) for i in range(layers)])


def write_one_matrix(folder, gigabytes):
    side = int((gigabytes * 1e9 / 4) ** 0.5)
    with open(folder / "model.onnx.data", "wb") as file:
        file.truncate(4 * side * side)
    write_chain(folder, [external_tensor("w0", "model.onnx.data", 0, 4 * side * side, side)])


def write_chain(folder, weights):
    names = ["x", *(f"h{i}" for i in range(len(weights) - 1)), "y"]
    nodes = [
        helper.make_node("MatMul", [names[i], weight.name], [names[i + 1]], name=f"layer{i}")
        for i, weight in enumerate(weights)
    ]
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, weights[0].dims[0]])] for name in ("x", "y")]
    graph = helper.make_graph(nodes, "large", *ends, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="octet")
    (folder / "model.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    write = write_one_matrix if sys.argv[2:3] == ["--one"] else write_large_model
    write(Path(sys.argv[1]), *(float(word) for word in sys.argv[2:] if word != "--one"))
