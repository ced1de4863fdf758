"""Options of samples, through the command line: they reach the process that verifies, and mean the same everywhere."""

import json
import shutil

import numpy as np
import pytest
from bad_samples import vision
from octet_cli import EXIT, PROJECT, octet, quantize
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

PIXELS = np.arange(2 * 8 * 8 * 3, dtype=np.uint8).reshape(2, 8, 8, 3)


@pytest.fixture
def folder(tmp_path):
    """With two pictures of known pixels."""
    (tmp_path / "pictures").mkdir()
    for i, pixels in enumerate(PIXELS):
        Image.fromarray(pixels).save(tmp_path / f"pictures/{i}.png")
    return tmp_path


def expecting(folder, wanted):
    """Two models: Identity, and one that gives `wanted` whatever comes in."""
    shape, dtype = [1, *wanted.shape], helper.np_dtype_to_tensor_dtype(wanted.dtype)
    content = vision(shape, dtype)
    (folder / "identity.onnx").write_bytes(content.SerializeToString())
    zeros = numpy_helper.from_array(np.zeros([1], wanted.dtype), "zero")
    content.graph.initializer.extend([zeros, numpy_helper.from_array(wanted[None], "wanted")])
    del content.graph.node[:]
    content.graph.node.append(helper.make_node("Mul", ["x", "zero"], ["nothing"]))
    content.graph.node.append(helper.make_node("Add", ["nothing", "wanted"], ["y"]))
    (folder / "wanted.onnx").write_bytes(content.SerializeToString())
    return folder / "identity.onnx", folder / "wanted.onnx"


MEAN, DEVIATION = np.array([0.5, 0.4, 0.3]), np.array([0.25, 0.5, 1])
FIRST = PIXELS[0].astype(np.float64)
NORMAL = ((FIRST / 255 - MEAN) / DEVIATION).astype(np.float32)
CENTERED = "--image-mean", "127.5", "--image-std", "127.5"
FLAGS = "--image-mean", "0.5,0.4,0.3", "--image-std", "0.25,0.5,1"


@pytest.mark.parametrize(
    ("wanted", "options"),
    [
        ((FIRST / 255).astype(np.float32).transpose(2, 0, 1), ()),
        ((FIRST / 255).astype(np.float32), ()),
        (NORMAL.transpose(2, 0, 1), FLAGS),
        (NORMAL, FLAGS),
        (FIRST[:, :, ::-1].astype(np.float32), ("--image-order", "bgr", "--image-scale", "1")),
        (((FIRST - 127.5) / 127.5).astype(np.float16), (*CENTERED, "--image-scale", "1")),
        (PIXELS[0], ()),
    ],
)
def test_pictures_become_what_the_options_say(folder, wanted, options):
    identity, constant = expecting(folder, wanted)
    arguments = constant, identity, "--data", folder / "pictures", "--limit", "1", "--json", *options
    report = json.loads(octet("compare", *arguments).succeeded().stdout)
    drift = report["drift"][0]
    if wanted.dtype.kind == "f":
        assert drift["max_abs_error"] <= 1.2e-7 * max(1, drift["max_abs"])
    else:
        assert drift["top1_agreement"] == 1


def test_a_recipe_is_the_flags_and_a_flag_wins(folder):
    identity, _ = expecting(folder, NORMAL.transpose(2, 0, 1))
    recipe = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.25, 0.5, 1], "image_order": "bgr", "image_fit": "crop"}
    (folder / "recipe.json").write_text(json.dumps(recipe))
    options = "--image-recipe", folder / "recipe.json", "--image-order", "rgb"
    said = octet("compare", identity, identity, "--data", folder / "pictures", *options).succeeded().stdout
    assert "2 pictures from" in said
    assert "(rgb, nchw, 8x8 by crop, scale 1/255, mean 0.5,0.4,0.3, std 0.25,0.5,1)" in said


def test_options_reach_every_command(folder):
    weights = numpy_helper.from_array(np.ones((8, 3, 3, 3), np.float32) / 27, "w")
    content = vision()
    del content.graph.node[:], content.graph.output[:]
    content.graph.node.append(helper.make_node("Conv", ["x", "w"], ["y"]))
    content.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 6, 6]))
    content.graph.initializer.append(weights)
    (folder / "model.onnx").write_bytes(content.SerializeToString())
    options = "--data", folder / "pictures", "--limit", "1", "--shuffle", "4", *FLAGS
    said = f"1 of 2 pictures from {folder / 'pictures'}, shuffled with seed 4 (rgb, nchw, 8x8 by stretch, scale 1/255"
    report = quantize(folder / "model.onnx", folder / "q.onnx", *options)
    assert report["verify"]["samples_description"].startswith(said)
    for command in (
        ("prepare", folder / "model.onnx", "-o", folder / "p.onnx"),
        ("compare", folder / "model.onnx", folder / "q.onnx"),
        ("bench", folder / "model.onnx", "--runs", "2", "--warmup", "0"),
    ):
        assert said in octet(*command, *options).succeeded().stdout, command


def test_shuffled_samples_keep_their_labels(tmp_path):
    """Labels in a list go by the order of names, whatever order samples are taken in."""
    data = PROJECT / "tests/data/digits_cnn"
    shutil.copytree(data / "eval", tmp_path / "eval")
    labels = json.loads((data / "eval/labels.json").read_text())
    ordered = [labels["labels"][name] for name in sorted(labels["labels"])] if isinstance(labels, dict) else labels
    (tmp_path / "eval/labels.json").write_text(json.dumps(ordered))
    model = PROJECT / "tests/data/digits_cnn.onnx"
    accuracy = [
        json.loads(octet("compare", model, model, "--data", tmp_path / "eval", "--json", *options).succeeded().stdout)
        for options in ((), ("--shuffle", "5"))
    ]
    assert accuracy[0]["accuracy"] == accuracy[1]["accuracy"]
    assert accuracy[0]["accuracy"]["reference"] > 0.9


def test_few_samples_are_said_and_more_advised_where_outputs_drift(tmp_path):
    data = PROJECT / "tests/data/digits_cnn"
    arguments = PROJECT / "tests/data/digits_cnn.onnx", "--calib", data / "calib", "--data", data / "eval"
    fine = quantize(arguments[0], tmp_path / "fine.onnx", *arguments[1:], "--min-sqnr", "10")
    notes = " ".join(fine["plan"]["notes"])
    assert "calibrated on 8 samples" in notes and "at least 500" not in notes
    held = quantize(arguments[0], tmp_path / "held.onnx", *arguments[1:], "--min-sqnr", "45")
    assert held["first_sqnr_db"] < 45 <= held["verify"]["worst_sqnr_db"]
    assert "at least 500 representative samples (there were 8)" in " ".join(held["plan"]["notes"])
    failed = octet("quantize", arguments[0], "-o", tmp_path / "no.onnx", *arguments[1:], "--min-sqnr", "250")
    assert failed.exit == EXIT["quality"] and "at least 500" in failed.stderr
