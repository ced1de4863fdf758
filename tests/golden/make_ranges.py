#!/usr/bin/env python3
"""Writes ranges.json: the ranges that the reference tool reads from activations.

"made" holds tensors that range_facts.py makes, the same everywhere; "models" what flows through real models between
the operators that octet calibrate observes, computed by the reference's own runtime.
"""

import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "zoo"), str(HERE.parent / "support")]

from range_facts import digest, made_tensors, reference_facts
from range_models import MODELS, SAMPLES_OF_MODELS, planned_ranges, samples_of

LONGEST = 200_000  # values of a tensor in one sample; the largest say nothing that others do not


def activations_of(path, samples):
    """The values that a static plan gives a range."""
    with tempfile.TemporaryDirectory() as folder:
        return list(planned_ranges(path, samples, Path(folder), "minmax", "--limit", 1))


def values_of(path, names, samples):
    """Name -> one array per sample, without any optimization, as the reference's calibrators run a model."""
    model = onnx.load(path)
    outputs = {output.name for output in model.graph.output}
    inputs = {value.name for value in model.graph.input}
    taps = [name for name in names if name not in inputs]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in taps if name not in outputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found = {name: [] for name in names}
    for file in sorted(samples.glob("*.npz"))[:SAMPLES_OF_MODELS]:
        sample = dict(np.load(file))
        results = sample | dict(zip(taps, session.run(taps, sample), strict=True))
        for name in names:
            found[name].append(np.asarray(results[name]))
    return found


def model_facts(name):
    path, samples = samples_of(name)
    values = values_of(path, activations_of(path, samples), samples)
    return {
        tensor: reference_facts(arrays)
        for tensor, arrays in values.items()
        # The reference fails on infinity and on samples of different shapes.
        if all(np.isfinite(a).all() for a in arrays)
        and len({a.shape for a in arrays}) == 1
        and 0 < arrays[0].size <= LONGEST
    }


def main():
    facts = {
        "reference": f"onnxruntime {version('onnxruntime')}",
        "made": {name: {"digest": digest(a)} | reference_facts(a) for name, a in made_tensors().items()},
        "models": {name: model_facts(name) for name in MODELS},
    }
    (HERE / "ranges.json").write_text(one_line_per_tensor(facts))
    print({name: len(found) for name, found in facts["models"].items()})


def one_line_per_tensor(facts):
    """JSON with a line for each tensor, so that a difference can be read."""

    def line(value):
        return json.dumps(value, separators=(",", ":"))

    def group(name, tensors):
        lines = ",\n".join(f"  {line(tensor)}: {line(found)}" for tensor, found in tensors.items())
        return f" {line(name)}: {{\n{lines}}}"

    groups = [group("made", facts["made"]), *(group(name, found) for name, found in facts["models"].items())]
    return f'{{\n "reference": {line(facts["reference"])},\n' + ",\n".join(groups) + "}\n"


if __name__ == "__main__":
    main()
