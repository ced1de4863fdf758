"""Scales, zero points and 8-bit values agree bit for bit with the reference tool's, for every weight of the small zoo.

weights.json holds the reference's facts; make_golden.py writes it.
"""

import functools
import json
from pathlib import Path

import numpy as np
import onnx
import onnx_facts
import pytest
from fetch_zoo import ensure
from octet_cli import octet
from onnx import numpy_helper

from odd_weights import odd_model
from weight_facts import BLOCKS, CONFIGURATIONS, block_fact, fact, find_weights

GOLDEN = json.loads((Path(__file__).parent / "weights.json").read_text())
GRANULARITIES = ("per-tensor", "per-channel")

# Where Octet differs on purpose, because the reference is at fault: (model, weight, type): reason.
DIFFERENCES = {}
SMALL = 1024  # values: below, Octet may find that 8 bits are not worth their scales


@functools.cache
def zoo():
    folder, entries = ensure("small")
    return {entry["name"]: folder / entry["file"] for entry in entries}


@functools.cache
def source(name, folder):
    path = folder / "odd.onnx" if name == "odd" else zoo()[name]
    if name == "odd":
        onnx.save(odd_model(), path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("golden")


def quantize(path, folder, *options):
    """The output model and its plan."""
    output, plan = folder / "q.onnx", folder / "plan.json"
    fixed = ["--mode", "weights", "--target", "x64", "--no-verify", "--no-prepare", "--force"]
    octet("quantize", path, "-o", output, "--save-plan", plan, *fixed, *options).succeeded()
    return onnx.load(output), json.loads(plan.read_text())


@pytest.mark.parametrize("kind, reduced", CONFIGURATIONS)
@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("name", GOLDEN["weights"])
def test_weights(name, granularity, kind, reduced, folder):
    path, golden = source(name, folder), GOLDEN["weights"][name]
    options = [f"--{granularity}", "--weight-type", kind] + ["--reduce-range"] * reduced
    model, plan = quantize(path, folder, *options)
    planned, kept = ({tensor["tensor"]: tensor for tensor in plan[key]} for key in ("tensors", "kept"))
    stored, weights = dict(onnx_facts.stored_tensors(model)), find_weights(onnx.load(path))
    configuration, problems, compared = CONFIGURATIONS.index((kind, reduced)), [], 0
    for weight, facts in golden.items():
        array, axes = weights[weight]
        weight = present(weight, weights, planned | kept)
        if weight not in planned:
            if array.size >= SMALL or "too small" not in kept[weight]["why"]:
                problems.append(f"{weight}: not planned")
            continue
        channel_axes = proper_axes(planned_axes(planned[weight]), array.shape)
        if channel_axes not in (proper_axes(axes[:-1], array.shape), axes):
            problems.append(f"{weight}: channels on {channel_axes}, the reference has them on {axes}")
            continue
        expected, actual = facts[channel_axes == axes][configuration], stored_fact(stored, planned[weight])
        if actual != expected and (name, weight, kind) not in DIFFERENCES:
            problems.append(f"{weight} {channel_axes or ''}: {actual}, the reference has {expected}")
        compared += 1
    assert not problems, "\n".join(problems)
    assert compared


def present(weight, weights, names):
    """The weight's name in the plan: its own, or that of an equal tensor it was merged with."""
    twins = (
        name for name, (array, _) in weights.items() if name in names and np.array_equal(array, weights[weight][0])
    )
    return weight if weight in names else next(twins, weight)


def planned_axes(tensor):
    first = tensor.get("axis")
    return () if first is None else tuple(range(first, first + tensor.get("axes", 1)))


def proper_axes(axes, shape):
    """None when they count to one, as the axis of an LSTM's only direction."""
    return axes if np.prod([shape[axis] for axis in axes]) > 1 else ()


def stored_fact(stored, tensor):
    values = numpy_helper.to_array(stored[tensor["tensor"] + "_quantized"])
    if tensor.get("transposed"):
        values = np.swapaxes(values, -1, -2)
    scales = numpy_helper.to_array(stored[tensor["tensor"] + "_scale"]).ravel()
    zero_points = stored.get(tensor["tensor"] + "_zero_point")
    zero_points = np.zeros(scales.size, values.dtype) if zero_points is None else numpy_helper.to_array(zero_points)
    return fact(scales, zero_points.ravel().astype(values.dtype), np.ascontiguousarray(values))


@pytest.mark.parametrize("kind, bits, block", BLOCKS)
@pytest.mark.parametrize("name", GOLDEN["blocks"])
def test_blocks(name, kind, bits, block, folder):
    """MatMulNBits: the packed levels, the scales and the zero points of every block."""
    path, golden = source(name, folder), GOLDEN["blocks"][name]
    model, _ = quantize(path, folder, "--weight-type", kind, "--block-size", str(block))
    stored = dict(onnx_facts.stored_tensors(model))
    configuration, compared = BLOCKS.index((kind, bits, block)), 0
    for node in (n for n in onnx_facts.nodes(model) if n.op_type == "MatMulNBits"):
        arrays = [numpy_helper.to_array(stored[tensor]) for tensor in node.input[1:4] if tensor]
        weight = max((w for w in golden if node.input[1].startswith(w)), key=len)
        assert block_fact(*arrays, *[None] * (3 - len(arrays))) == golden[weight][configuration], weight
        compared += 1
    assert compared, "no MatMulNBits in the output"
