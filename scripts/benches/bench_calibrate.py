"""scripts/bench calibrate: time and peak memory of calibrating, beside the Python tool's entropy calibrator and beside
ONNX Runtime that only runs.

All see the same prepared model, the same values and the same samples. The Python tool holds every value of every sample
until the end, so it gets few samples unless asked; what Octet needs for many is measured alone. "Running alone" is the
model with those values as outputs, run sample after sample with all threads (run_tapped.py): its seconds are those of
the session, while Octet's are the whole process. Octet runs several samples at once; what it takes when it does so
without observing stands beside.
"""

import json
import math
import statistics
import subprocess
import tempfile
from pathlib import Path

from bench_kit import OCTET, environment, find_models, run, settings, title

MODELS = ["ppocr4_rec"]
LONG = 500  # samples beyond which one run is enough
TAPPED = Path(__file__).resolve().parent / "run_tapped.py"
COUNTS = [8, 64, 640]  # samples for Octet
REFERENCE_COUNT = 8  # for the reference, which keeps all values of all samples

# The budgets of ARCHITECTURE.md and of the issue that asked for this
MOST_MB = 400
MOST_OF_RUNNING = 1.3  # of the same model with the same outputs, run over the same samples

REFERENCE = """
import json, sys
from pathlib import Path
import numpy as np
import onnxruntime.quantization.calibrate as tool

model, samples, values, tapped = sys.argv[1:]
wanted = set(json.loads(Path(values).read_text()))
select = tool.CalibraterBase.select_tensors_to_calibrate

def select_wanted(self, model):
    found, infos = select(self, model)
    return found & wanted, infos

class Reader(tool.CalibrationDataReader):
    def __init__(self):
        self.files = iter(sorted(Path(samples).iterdir()))
    def get_next(self):
        file = next(self.files, None)
        return None if file is None else dict(np.load(file))

tool.CalibraterBase.select_tensors_to_calibrate = select_wanted
method = tool.CalibrationMethod.Entropy
calibrator = tool.create_calibrator(Path(model), [], augmented_model_path=tapped, calibrate_method=method)
calibrator.collect_data(Reader())
missing = wanted - set(calibrator.compute_data().data)
if missing:
    sys.exit(f"not observed: {sorted(missing)}")
"""


def linked(samples, count, folder):
    """A folder of `count` samples: links to those there are, again and again."""
    files = sorted(path for path in samples.iterdir() if path.suffix == ".npz")
    folder.mkdir()
    for i in range(count):
        (folder / f"{i:05}.npz").symlink_to(files[i % len(files)])
    return folder


def measure(name, model, options, python):
    samples = model.parent.parent / "calib" / model.stem
    rows = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        prepared = folder / "prepared.onnx"
        prepare = [OCTET, "prepare", model, "-o", prepared, "--shapes", "--no-verify"]
        subprocess.run(prepare, check=True, stdout=subprocess.DEVNULL)
        data = {count: linked(samples, count, folder / f"{count}") for count in {*options.samples, options.reference}}

        def octet(count, *more):
            words = "calibrate", prepared, "--calib", data[count], "-o", folder / "ranges.json", "--force"
            return [OCTET, *words, "--no-prepare", *more]

        run(octet(min(options.samples)))
        names = [tensor["tensor"] for tensor in json.loads((folder / "ranges.json").read_text())["tensors"]]
        (folder / "values.json").write_text(json.dumps(names))
        reference = [python, "-c", REFERENCE, prepared, data[options.reference], folder / "values.json"]
        contenders = {f"octet, {count} samples": octet(count) for count in options.samples}
        contenders[not_observing(options)] = octet(compared(options), "--no-observe")
        contenders[f"reference, {options.reference} samples"] = [*reference, folder / "tapped.onnx"]
        running = [python, TAPPED, prepared, folder / "values.json", data[compared(options)]]
        measured = {what: [] for what in [*contenders, running_alone(options)]}
        for timed in range(options.runs):
            for what, command in contenders.items():
                if timed and what == f"octet, {max(options.samples)} samples" and max(options.samples) > LONG:
                    continue  # once is enough to see what memory it takes
                measured[what].append(run(command))
            printed = subprocess.run(running, check=True, capture_output=True, text=True).stdout
            measured[running_alone(options)].append((float(printed), math.nan))
        for what, results in measured.items():
            rows[what] = {
                "seconds": statistics.median(seconds for seconds, _ in results),
                "peak_mb": max(megabytes for _, megabytes in results),
            }
    return {"model": name, "values": len(names), "rows": rows, **judged(rows, options)}


def compared(options):
    """With how many samples observing is held against running alone."""
    return max((count for count in options.samples if count <= LONG), default=min(options.samples))


def not_observing(options):
    return f"octet, {compared(options)} samples, not observing"


def running_alone(options):
    return f"ONNX Runtime, {compared(options)} samples, running alone"


def judged(rows, options):
    """How the budgets were kept."""
    whole = rows[f"octet, {compared(options)} samples"]["seconds"]
    ratio = whole / rows[running_alone(options)]["seconds"]
    verdicts = {
        "of_running": ratio,
        "of_not_observing": whole / rows[not_observing(options)]["seconds"],
        "time_kept": ratio <= MOST_OF_RUNNING,
        "memory_kept": max(row["peak_mb"] for what, row in rows.items() if what.startswith("octet")) <= MOST_MB,
    }
    if options.reference in options.samples:
        same = rows[f"octet, {options.reference} samples"]
        other = rows[f"reference, {options.reference} samples"]
        verdicts["times_faster"] = other["seconds"] / same["seconds"]
        verdicts["times_less_memory"] = other["peak_mb"] / same["peak_mb"]
    return verdicts


def table(result, options):
    lines = [f"{result['model']}, {result['values']} values observed", "| what | seconds | MB |", "| --- | --- | --- |"]
    for what, row in result["rows"].items():
        megabytes = "–" if math.isnan(row["peak_mb"]) else f"{row['peak_mb']:.0f}"
        lines.append(f"| {what} | {row['seconds']:.2f} | {megabytes} |")
    kept = {True: "kept", False: "missed"}
    lines.append(
        f"observing: {result['of_running']:.2f} of running alone with {compared(options)} samples, "
        f"budget {MOST_OF_RUNNING} {kept[result['time_kept']]} (of running as Octet does, several samples at once: "
        f"{result['of_not_observing']:.2f}); {MOST_MB} MB {kept[result['memory_kept']]}"
    )
    if "times_faster" in result:
        lines.append(
            f"against the reference on {options.reference} samples: {result['times_faster']:.1f} times faster, "
            f"{result['times_less_memory']:.1f} times less memory"
        )
    return "\n".join(lines)


def bench_calibrate(options):
    python = settings()["OCTET_PYTHON"]
    results = {"environment": environment(), "runs": options.runs, "results": []}
    if not options.json:
        print(f"{title(results['environment'])}\nwhole processes, median of {options.runs} interleaved runs")
    for name, path in find_models(options.models or MODELS, python):
        results["results"].append(measure(name, path, options, python))
        if not options.json:
            print(table(results["results"][-1], options), flush=True)
    if options.json:
        print(json.dumps(results, indent=1))


def add_command(benches):
    command = benches.add_parser("calibrate", help="time and memory of calibrating, beside the Python tool")
    command.add_argument("models", nargs="*", metavar="MODEL", help="names of the zoo (default: ppocr4_rec)")
    command.add_argument("--runs", type=int, default=3, help="timed runs of each (default 3)")
    command.add_argument("--samples", type=int, nargs="+", default=COUNTS, help="samples for Octet (8 64 640)")
    command.add_argument(
        "--reference",
        type=int,
        default=REFERENCE_COUNT,
        help="samples for the Python tool (8; it keeps all values of all of them: 64 take 14 GB unprepared)",
    )
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=bench_calibrate)
