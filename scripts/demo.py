"""Quantizes the two models of tests/data in every way, times all of them in one run, and prints the table.

Latency is the median of one run on one sample batch, in milliseconds; megabytes are 10^6 bytes.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
OCTET = Path(os.environ.get("OCTET_BIN") or PROJECT / "build/native/octet").resolve()
DATA = PROJECT / "tests/data"

# Each way with the options that make it; CALIB stands for the folder of a model's calibration samples.
CALIB = "CALIB"
EVERY_MODEL = {
    "Static INT8": ["--calib", CALIB],
    "Dynamic INT8": ["--mode", "dynamic"],
    "Weights INT8": ["--mode", "weights"],
    "Weights INT8, any runtime": ["--mode", "weights", "--target", "any"],
}
MODELS = {
    "gpt_char": ("a character GPT", EVERY_MODEL | {"Weights INT4 blocks": ["--mode", "weights", "--weight-type", "qint4"]}),
    "digits_cnn": ("a CNN for digits", EVERY_MODEL | {"Dynamic INT8, Conv too": ["--op-types", "Conv,Gemm"]}),
}
HEADER = ["Method", "Size (MB)", "% drop", "Latency (ms)", "Throughput", "Speedup", "Drift (SQNR)", "Accuracy"]


class Failed(Exception):
    pass


def octet(*arguments):
    """What a command of octet says with --json."""
    finished = subprocess.run([OCTET, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if finished.returncode != 0:
        raise Failed(finished.stderr.strip() or f"octet ended with {finished.returncode}")
    return json.loads(finished.stdout)


def variants_of(name, ways, folder):
    """Quantizes; returns the file of each way that worked, and the complaint of each that did not."""
    files, failures = {}, {}
    for method, options in ways.items():
        output = Path(folder) / f"{name}.{len(files) + len(failures)}.onnx"
        options = [DATA / name / "calib" if option == CALIB else option for option in options]
        try:
            octet("quantize", DATA / f"{name}.onnx", "-o", output, "--data", DATA / name / "eval", *options)
            files[method] = output
        except Failed as failure:
            failures[method] = str(failure)
    return files, failures


def measure(name, ways, runs, folder):
    """One entry per method: what bench measured, with both models' accuracy added."""
    original, data = DATA / f"{name}.onnx", DATA / name / "eval"
    files, failures = variants_of(name, ways, folder)
    timing = "--threads", "1", "--runs", str(runs), "--no-memory"
    bench = octet("bench", original, *files.values(), "--data", data, *timing)
    entries = dict(zip(["FP32 (baseline)", *files], bench["rows"], strict=True))
    for method, output in files.items():
        accuracy = octet("compare", original, output, "--data", data).get("accuracy")
        if accuracy:
            entries[method]["accuracy"] = accuracy["candidate"]
            entries["FP32 (baseline)"]["accuracy"] = accuracy["reference"]
    return entries | {method: {"error": why} for method, why in failures.items()}, bench


def cells(method, entry, baseline):
    if "error" in entry:
        return [method, *["failed"] * (len(HEADER) - 1)]
    size, speedup = entry["file_bytes"], entry.get("speedup")
    rate = f"{entry['samples_per_second']:,.0f} samples/s"
    if "tokens_per_second" in entry:
        rate = f"{entry['tokens_per_second']:,.0f} tokens/s"
    return [
        method,
        f"{size / 1e6:.3f}",
        f"{100 * (1 - size / baseline['file_bytes']):.1f}" if speedup else "-",
        f"{entry['latency']['median_ms']:.3f}",
        rate,
        f"{speedup['ratio']:.2f}x [{speedup['low']:.2f}, {speedup['high']:.2f}]" if speedup else "1.00x",
        f"{entry['worst_sqnr_db']:.1f} dB" if "worst_sqnr_db" in entry else "-",
        f"{100 * entry['accuracy']:.1f} %" if "accuracy" in entry else "-",
    ]


def show(name, what, entries):
    baseline = entries["FP32 (baseline)"]
    rows = [HEADER, *(cells(method, entry, baseline) for method, entry in entries.items())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]
    print(f"\ntests/data/{name}.onnx, {what}")
    for row in rows:
        aligned = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  " + " | ".join(aligned).rstrip())
    for method, entry in entries.items():
        said = entry["verdict"]["sentence"] if "verdict" in entry else entry.get("error")
        if said:
            print(f"  {method}: {said}")


def processor(environment):
    """The processor's name and the number of its cores, as bench found them."""
    cores = environment["cores"]
    return f"{environment['cpu']}, {cores} core{'' if cores == 1 else 's'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=50, help="timed runs of each model (default 50)")
    parser.add_argument("--json", action="store_true", help="everything measured, as JSON")
    options = parser.parse_args()
    setup = {"system": platform.system(), "load": round(os.getloadavg()[0], 1)}
    results = {}
    with tempfile.TemporaryDirectory(prefix="octet-demo-") as folder:
        for name, (what, ways) in MODELS.items():
            entries, bench = measure(name, ways, options.runs, folder)
            setup["processor"] = processor(bench["environment"])
            if not results and not options.json:
                print(
                    f"{setup['processor']}, load {setup['load']}; ONNX Runtime {bench['runtime']}, one thread; "
                    f"5 warm-up and {options.runs} timed runs of each, interleaved"
                )
            results[name] = entries
            setup["runtime"] = bench["runtime"]
            if not options.json:
                show(name, what, entries)
    if options.json:
        print(json.dumps({"setup": setup, "models": results}, indent=1))
    return 1 if any("error" in entry for entries in results.values() for entry in entries.values()) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"demo: {failure}")
