"""scripts/bench web: quantizing in Chromium beside the command line, and how soon the page has a verified result."""

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from bench_kit import OCTET, PROJECT, build_page, environment, find_models, run, settings, title

MODELS = ["nudenet"]  # the zoo's detector of 12 MB
MODES = ("dynamic", "weights")

# The budgets of ARCHITECTURE.md
MOST_TIMES_NATIVE, MOST_SECONDS = 2, 2
SAMPLES = 8  # that outputs are compared on


def native(model, mode, runs):
    with tempfile.TemporaryDirectory() as folder:
        command = [OCTET, "quantize", model, "-o", Path(folder) / "out.onnx", "--force", "--no-verify"]
        command += ["--mode", mode, "--target", "wasm"]
        run(command)
        return [1e3 * run(command)[0] for _ in range(runs)]


def measure(name, model, runs):
    samples = sorted((model.parent.parent / "eval" / name).glob("*.npz"))[:SAMPLES]
    page = PROJECT / "scripts/benches/time_page.mjs"
    before = {mode: native(model, mode, runs) for mode in MODES}
    answer = subprocess.run(["node", page, model, str(runs), *samples], check=True, stdout=subprocess.PIPE, text=True)
    times = json.loads(answer.stdout)
    # Natively once more, so that a machine that got slower meanwhile is seen on both sides.
    both = {mode: before[mode] + native(model, mode, runs) for mode in MODES}
    rows = {}
    for mode in MODES:
        native_ms, core_ms = statistics.median(both[mode]), statistics.median(times["core"][mode])
        rows[mode] = {
            "native_ms": native_ms,
            "core_ms": core_ms,
            "ratio": core_ms / native_ms,
            "verified_s": statistics.median(entry["verified"] for entry in times["first"][mode]),
            "judged_s": statistics.median(entry["judged"] for entry in times["first"][mode]),
        }
    return {"model": name, "mb": model.stat().st_size / 1e6, "samples": len(samples), "rows": rows, "all": times}


def show(result):
    print(f"\n{result['model']}, {result['mb']:.1f} MB, outputs compared on {result['samples'] or 'made-up'} samples")
    for mode, row in result["rows"].items():
        core = "holds" if row["ratio"] <= MOST_TIMES_NATIVE else "SHORT"
        page = "holds" if row["verified_s"] <= MOST_SECONDS else "SHORT"
        print(
            f"  {mode:8} command line {row['native_ms']:.0f} ms, core in the browser {row['core_ms']:.0f} ms: "
            f"{row['ratio']:.1f}x ({core}, budget {MOST_TIMES_NATIVE}x)\n"
            f"           first verified result {row['verified_s']:.1f} s ({page}, budget {MOST_SECONDS} s), "
            f"with latency {row['judged_s']:.1f} s"
        )


def bench_web(options):
    environ = settings()
    build_page(environ)
    results = {"environment": environment(), "runs": options.runs, "results": []}
    if not options.json:
        print(
            f"{title(results['environment'])}\nmedian of {options.runs} runs; the command line as a whole process, the core "
            "as one call in a worker, the page from pressing Quantize, just opened"
        )
    for name, path in find_models(options.models or MODELS, environ["OCTET_PYTHON"]):
        results["results"].append(measure(name, path, options.runs))
        if not options.json:
            show(results["results"][-1])
    if options.json:
        print(json.dumps(results, indent=1))


def add_command(benches):
    command = benches.add_parser("web", help="quantizing in Chromium beside the command line")
    command.add_argument("models", nargs="*", metavar="MODEL", help=f"default: {' '.join(MODELS)}")
    command.add_argument("--runs", type=int, default=5, help="timed runs of each (default 5)")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=bench_web)
