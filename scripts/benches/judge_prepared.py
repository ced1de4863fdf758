"""What prepared models are, beside their original, as JSON: judge_prepared.py SUPPORT SAMPLES|- ORIGINAL PREPARED...

Nodes of all graphs, bytes with external data, and the largest difference from the original over two samples; a process
of its own, since loading models takes memory and may crash.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import onnx
import onnx_facts
import runtime

SAMPLES = 2


def judged(path, samples, reference):
    row = {"nodes": None, "bytes": None, "difference": None, "fault": None}
    if not Path(path).exists():
        return row
    try:
        row["nodes"] = len(onnx_facts.nodes(onnx.load(path, load_external_data=False)))
        row["bytes"] = onnx_facts.file_bytes(path)
        outputs = runtime.run_all(path, samples)  # loads even where there are no samples
        if not samples:
            runtime.session(path)
        row["difference"] = runtime.largest_difference(reference, outputs)
    except Exception as fault:  # whatever the tool wrote, the others are judged all the same
        row["fault"] = f"{fault}".splitlines()[0][:200]
    return row


folder, original, *prepared = sys.argv[2:]
samples = [] if folder == "-" else runtime.load_samples(Path(folder))[:SAMPLES]
reference = runtime.run_all(original, samples, optimized=False)
print(json.dumps([judged(path, samples, reference) for path in (original, *prepared)]))
