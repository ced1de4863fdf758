#!/usr/bin/env python3
"""Writes weights.json: what the reference tool makes of every float weight of the small zoo and of some odd ones.

For each weight one list per tensor and one per channel, each with a fact for every configuration of weight_facts.py:
the scale's bits, the zero point and a hash of the 8-bit values ("." between them), hashes of all three per channel.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import onnx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "zoo"), str(HERE.parent / "support")]

from fetch_zoo import ensure
from odd_weights import odd_model
from weight_facts import find_weights, reference_block_facts, reference_facts

WITH_BLOCKS = ("gpt_char", "khmersm", "oww_jarvis", "magika")


def facts_of(model):
    return {name: reference_facts(*weight) for name, weight in find_weights(model).items() if weight[0].size}


def block_facts_of(model):
    """Of the matrices, turned so that their columns are the channels: what MatMulNBits can hold."""
    matrices = {name: weight for name, weight in find_weights(model).items() if weight[0].ndim == 2 and weight[0].size}
    return {name: reference_block_facts(a if axes == (1,) else a.T) for name, (a, axes) in matrices.items()}


def main():
    zoo, entries = ensure("small")
    files = {"odd": odd_model()} | {entry["name"]: onnx.load(zoo / entry["file"]) for entry in entries}
    facts = {
        "reference": f"onnxruntime {version('onnxruntime')}",
        "weights": {name: found for name, model in files.items() if (found := facts_of(model))},
        "blocks": {name: block_facts_of(files[name]) for name in WITH_BLOCKS},
    }
    (HERE / "weights.json").write_text(one_line_each(facts))
    print(f"{sum(map(len, facts['weights'].values()))} weights of {len(facts['weights'])} models")


def one_line_each(value, depth=0):
    """JSON with a line for each weight, so that a difference can be read."""
    if not isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"))
    lines = [f"{' ' * depth}{json.dumps(k)}: {one_line_each(v, depth + 1)}" for k, v in value.items()]
    return "{\n" + ",\n".join(lines) + "}" + "\n" * (depth == 0)


if __name__ == "__main__":
    main()
