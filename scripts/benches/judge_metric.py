"""What models of the zoo are for, as a number each, as JSON: judge_metric.py PROJECT ZOO NAME MODEL...

The model's metric (tests/zoo/metrics.py) over its evaluation samples, against the float model; null where it has none.
"""

import json
import sys
from pathlib import Path

project, zoo, name, *models = sys.argv[1:]
sys.path[:0] = [f"{project}/tests/support", f"{project}/tests/zoo"]
import onnx
import runtime
from bench_kit import zoo_entry
from metrics import rate

zoo = Path(zoo)
entry = zoo_entry(zoo, name)
samples = runtime.load_samples(zoo / entry["eval"])
original = zoo / entry["file"]
reference = runtime.run_all(original, samples, optimized=False)
skeleton = onnx.load(original, load_external_data=False)
rated = [rate(entry["metric"], reference, runtime.run_all(path, samples), zoo / entry["eval"], skeleton) for path in models]
print(json.dumps([None if value is None else float(value) for value in rated]))
