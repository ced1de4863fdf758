"""Samples that do not fit a model, and options of samples that do not fit anything: more entries of BAD."""

import json

import numpy as np
from onnx import TensorProto, helper
from PIL import Image

from bad_inputs import bad, model, quantize, value


def with_samples(folder, content=None, **arrays):
    (folder / "data").mkdir()
    if arrays:
        np.savez(folder / "data/0.npz", **arrays)
    return quantize(folder, content, "--data", folder / "data")


X = np.ones((4, 32), np.float32)


@bad("data", "data")
def no_samples(folder):
    return with_samples(folder)


@bad("data", "'z'")
def sample_without_an_input(folder):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Add", ["a", "z"], ["y"])]
    m = model(nodes)
    m.graph.input.append(value("z", [4, 64]))
    return with_samples(folder, m, x=X, other=X)


@bad("data", "x")
def sample_of_another_type(folder):
    return with_samples(folder, x=X.astype(np.complex64))


@bad("data", "x")
def sample_of_another_rank(folder):
    return with_samples(folder, x=X[0])


@bad("data", "x")
def sample_of_another_size(folder):
    return with_samples(folder, x=X[:, :31])


@bad("data", "0.npz")
def damaged_sample(folder):
    arguments = with_samples(folder, x=X)
    path = folder / "data/0.npz"
    path.write_bytes(path.read_bytes()[:-60])
    return arguments


@bad("quality", "--min-sqnr")
def floor_out_of_reach(folder):
    """Equal outputs count as 200 dB: not even the float model reaches this."""
    x = np.random.default_rng(5).standard_normal((4, 32)).astype(np.float32)
    return [*with_samples(folder, x=x), "--min-sqnr", "250"]


@bad("usage", "--data", "--no-verify")
def samples_without_verification(folder):
    return [*with_samples(folder, x=X), "--no-verify"]


# Pictures and raw numbers


def vision(shape=(1, 3, 8, 8), dtype=TensorProto.FLOAT):
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "g", [value("x", shape, dtype)], [value("y", shape, dtype)]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def with_picture(folder, content=None, *options):
    (folder / "data").mkdir()
    Image.new("RGB", (9, 7), (1, 2, 3)).save(folder / "data/a.png")
    return [*quantize(folder, content or vision()), "--data", folder / "data", *options]


@bad("data", "data", "'x'", "'z'", ".npz")
def picture_for_two_inputs(folder):
    m = vision()
    m.graph.input.append(value("z", [1]))
    m.graph.node.append(helper.make_node("Identity", ["z"], ["unused"]))
    m.graph.output.append(value("unused", [1]))
    return with_picture(folder, m)


@bad("data", "pictures", "'x'", "[4,32]")
def picture_for_a_matrix(folder):
    return with_picture(folder, model())


@bad("data", "a.png")
def damaged_picture(folder):
    arguments = with_picture(folder)
    path = folder / "data/a.png"
    path.write_bytes(path.read_bytes()[:20])
    return arguments


@bad("usage", "--image-size", "[1,3,8,8]")
def size_beside_a_fixed_one(folder):
    return with_picture(folder, None, "--image-size", "9x9")


@bad("usage", "--image-size", "224x224")
def size_that_is_none(folder):
    return with_picture(folder, None, "--image-size", "big")


@bad("usage", "--image-mean", "channel")
def mean_of_two(folder):
    return with_picture(folder, None, "--image-mean", "1,2")


@bad("usage", "--image-std", "0")
def division_by_zero(folder):
    return with_picture(folder, None, "--image-std", "1,0,1")


@bad("usage", "--image-mean", "uint8")
def mean_of_bytes(folder):
    return with_picture(folder, vision(dtype=TensorProto.UINT8), "--image-mean", "1")


@bad("usage", "--image-fit", "stretch, crop or pad")
def fit_that_is_none(folder):
    return with_picture(folder, None, "--image-fit", "cover")


@bad("usage", "recipe.json", "mean", "image_mean")
def recipe_with_another_key(folder):
    (folder / "recipe.json").write_text(json.dumps({"mean": 1}))
    return with_picture(folder, None, "--image-recipe", folder / "recipe.json")


@bad("read", "missing.json")
def recipe_that_is_not_there(folder):
    return with_picture(folder, None, "--image-recipe", folder / "missing.json")


@bad("data", "a.raw", "'x'", "768")
def raw_numbers_of_another_length(folder):
    (folder / "data").mkdir()
    np.zeros(191, np.float32).tofile(folder / "data/a.raw")
    return [*quantize(folder, vision()), "--data", folder / "data"]


@bad("usage", "--limit")
def limit_of_none(folder):
    return with_picture(folder, None, "--limit", "0")


@bad("usage", "--shuffle")
def seed_that_is_none(folder):
    return with_picture(folder, None, "--shuffle", "often")


def calibrate(folder, *options, **arrays):
    arguments = with_samples(folder, **arrays)
    return ["calibrate", arguments[1], "--calib", folder / "data", "-o", folder / "out/r.json", *options]


@bad("data", "data")
def calibration_without_samples(folder):
    """microsoft/onnxruntime#13044: a reader that yields nothing."""
    return calibrate(folder)


@bad("data", "data", "shard 2 of 2", "not one sample")
def empty_shard(folder):
    return calibrate(folder, "--shard", "2/2", x=X)


@bad("usage", "--shard 3/2")
def shard_that_is_none(folder):
    return calibrate(folder, "--shard", "3/2", x=X)


@bad("data", "0.npz", "x")
def calibration_on_another_shape(folder):
    return calibrate(folder, x=np.ones((4, 31), np.float32))


@bad("usage", "--calib")
def calibration_on_nothing(folder):
    return ["calibrate", quantize(folder)[1], "-o", folder / "out/r.json"]


@bad("usage", "--merge")
def merging_and_calibrating(folder):
    return calibrate(folder, "--merge", folder / "data/0.npz", x=X)


@bad("malformed", "ranges.json")
def merging_what_is_no_ranges(folder):
    (folder / "ranges.json").write_text("[]")
    return ["calibrate", "--merge", folder / "ranges.json", "-o", folder / "out/r.json"]


@bad("read", "missing.json")
def merging_what_is_not_there(folder):
    return ["calibrate", "--merge", folder / "missing.json", "-o", folder / "out/r.json"]
