"""Runs samples through a model with more outputs, one after another, and prints the seconds that took: what calibrating
costs without anything that looks at the values.

    run_tapped.py MODEL VALUES.json SAMPLES

VALUES.json: a list of names of values of the model. Without optimizations, which would do away with some of them, and
with all threads, as the Python tool's calibrators run a model. The seconds begin when the session is made.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime


def tapped(model, values):
    known = {value.name for value in [*model.graph.input, *model.graph.output]}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in values if name not in known)
    return model.SerializeToString()


def main():
    model, values, samples = sys.argv[1:]
    model = tapped(onnx.load(model), json.loads(Path(values).read_text()))
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(model, settings)
    for file in sorted(Path(samples).iterdir()):
        with np.load(file) as sample:
            session.run(None, dict(sample))
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
