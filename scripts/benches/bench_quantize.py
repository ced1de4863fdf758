"""scripts/bench quantize: wall time and peak memory of quantizing, beside the Python tool and the budgets."""

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from bench_kit import OCTET, PROJECT, environment, find_models, run, settings, title

# 12, 54, 90 and 97 MB; the last is the largest of the full zoo.
MODELS = ["nudenet", "dddd_ocr", "minilm_l6", "vit_focus"]

# The budgets of ARCHITECTURE.md
LEAST_SPEEDUP = 15  # over the reference's whole process
MOST_COPIES = 3  # of the time that copying the file takes, above SMALL_MB
SMALL_MB, MOST_SMALL_MS = 10, 30
MOST_TENSORS, MOST_MB = 2, 150  # memory: the largest tensor twice, and this

REFERENCE = """
import sys, logging
logging.disable(logging.WARNING)
from onnxruntime.quantization import QuantType, quantize_dynamic
quantize_dynamic(sys.argv[1], sys.argv[2], weight_type=QuantType.QInt8)
"""
LARGEST_TENSOR = """
import sys
sys.path.insert(0, sys.argv[2])
import onnx, onnx_facts
sizes = [t.ByteSize() for _, t in onnx_facts.stored_tensors(onnx.load(sys.argv[1]))]
print(max(sizes, default=0))
"""
LOADS = "import sys, onnxruntime; onnxruntime.set_default_logger_severity(4); onnxruntime.InferenceSession(sys.argv[1])"


def commands(model, folder, python):
    def octet(output, *options):
        return [OCTET, "quantize", model, "-o", folder / output, "--force", *options]

    return {
        "octet dynamic": octet("dynamic.onnx", "--mode", "dynamic", "--no-verify"),
        "octet weights": octet("weights.onnx", "--mode", "weights", "--no-verify"),
        "octet dynamic, verified": octet("verified.onnx", "--mode", "dynamic"),
        "reference dynamic": [python, "-c", REFERENCE, model, folder / "reference.onnx"],
        "copy": ["cp", model, folder / "copy.onnx"],
    }


def measure(name, model, runs, python):
    with tempfile.TemporaryDirectory() as folder:
        contenders = commands(model, Path(folder), python)
        for command in contenders.values():  # warms the file cache
            run(command)
        for output in ("dynamic.onnx", "weights.onnx"):  # only what loads is worth timing
            run([python, "-c", LOADS, Path(folder) / output])
        measured = {what: [] for what in contenders}
        for _ in range(runs):
            for what, command in contenders.items():
                measured[what].append(run(command))
        rows = {what: row(results) for what, results in measured.items()}
        for what, output in (
            ("octet dynamic", "dynamic"),
            ("octet weights", "weights"),
            ("reference dynamic", "reference"),
        ):
            rows[what]["output_mb"] = (Path(folder) / f"{output}.onnx").stat().st_size / 1e6
    support = PROJECT / "tests/support"
    largest = int(
        subprocess.run([python, "-c", LARGEST_TENSOR, model, support], check=True, capture_output=True).stdout
    )
    return {
        "model": name,
        "mb": model.stat().st_size / 1e6,
        "largest_tensor_mb": largest / 1e6,
        "rows": rows,
        "budgets": budgets(model.stat().st_size / 1e6, largest / 1e6, rows),
    }


def row(results):
    seconds = [s for s, _ in results]
    return {
        "median_ms": 1e3 * statistics.median(seconds),
        "min_ms": 1e3 * min(seconds),
        "max_ms": 1e3 * max(seconds),
        "peak_mb": max(mb for _, mb in results),
        "all_ms": [1e3 * s for s in seconds],
    }


def budgets(mb, largest_mb, rows):
    """What ARCHITECTURE.md promises, what was measured, and whether it holds."""
    held = []

    def promise(what, measured, limit, most=True):
        held.append({
            "what": what,
            "measured": measured,
            "limit": limit,
            "holds": measured <= limit if most else measured >= limit,
        })

    reference, copy = rows["reference dynamic"]["median_ms"], rows["copy"]["median_ms"]
    for what in ("octet dynamic", "octet weights"):
        ms = rows[what]["median_ms"]
        promise(f"{what}: times faster than the reference", reference / ms, LEAST_SPEEDUP, most=False)
        if mb > SMALL_MB:
            promise(f"{what}: times a copy of the file", ms / copy, MOST_COPIES)
        else:
            promise(f"{what}: milliseconds", ms, MOST_SMALL_MS)
        promise(f"{what}: peak MB", rows[what]["peak_mb"], MOST_TENSORS * largest_mb + MOST_MB)
    promise(
        "octet dynamic, verified: times faster than the reference",
        reference / rows["octet dynamic, verified"]["median_ms"],
        1,
        most=False,
    )
    return held


def show(result):
    print(f"\n{result['model']}, {result['mb']:.1f} MB, largest tensor {result['largest_tensor_mb']:.1f} MB")
    print(f"  {'':26}{'median':>10}{'best':>10}{'peak':>10}{'output':>10}{'reference':>12}{'copy':>8}")
    reference, copy = (result["rows"][what]["median_ms"] for what in ("reference dynamic", "copy"))
    for what, r in result["rows"].items():
        output = f"{r['output_mb']:.2f} MB" if "output_mb" in r else ""
        print(
            f"  {what:26}{r['median_ms']:>7.1f} ms{r['min_ms']:>7.1f} ms{r['peak_mb']:>7.1f} MB{output:>10}"
            f"{reference / r['median_ms']:>11.1f}x{r['median_ms'] / copy:>7.1f}x"
        )
    for b in result["budgets"]:
        print(f"  {'holds ' if b['holds'] else 'SHORT '} {b['what']}: {b['measured']:.1f}, budget {b['limit']:.1f}")


def bench_quantize(options):
    python = settings()["OCTET_PYTHON"]
    results = {"environment": environment(), "runs": options.runs, "results": []}
    if not options.json:
        print(
            f"{title(results['environment'])}\n"
            f"whole processes, median of {options.runs} interleaved runs; "
            "reference: times faster than it, copy: times as long"
        )
    for name, path in find_models(options.models or MODELS, python):
        results["results"].append(measure(name, path, options.runs, python))
        if not options.json:
            show(results["results"][-1])
    if options.json:
        print(json.dumps(results, indent=1))


def add_command(benches):
    command = benches.add_parser("quantize", help="wall time and peak memory of quantizing")
    command.add_argument("models", nargs="*", metavar="MODEL", help=f"default: {' '.join(MODELS)}")
    command.add_argument("--runs", type=int, default=5, help="timed runs of each, after one to warm up (default 5)")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=bench_quantize)
