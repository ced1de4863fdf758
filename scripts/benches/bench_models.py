"""scripts/bench models: size, speed and drift of quantized models of the zoo."""

import json
import tempfile
from pathlib import Path

import bench_quantize
from bench_kit import environment, find_models, octet_json, settings, title

# An MLP, two LSTMs, a GRU, CNNs with and without attention, transformers.
VARIED_MODELS = ["magika", "oww_mycroft", "khmersm", "eeg_seizure", "nsnet2", "ppocr4_rec", *bench_quantize.MODELS]


def try_model(name, path, runs):
    """The rows of `octet bench` for the float model and both quantized ones."""
    zoo = path.parent.parent
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder) / f"{mode}.onnx" for mode in ("dynamic", "weights")]
        for output in outputs:
            options = ("--mode", output.stem, "--target", "x64", "--data", zoo / "calib" / name)
            octet_json("quantize", path, "-o", output, *options)
        data = ("--data", zoo / "eval" / name, "--threads", "1", "--runs", runs, "--seconds", "15", "--no-memory")
        return octet_json("bench", path, *outputs, *data)


def bench_models(options):
    results = {"environment": environment(), "runs": options.runs, "results": {}}
    for name, path in find_models(options.models or VARIED_MODELS, settings()["OCTET_PYTHON"]):
        result = results["results"][name] = try_model(name, path, options.runs)
        if options.json:
            continue
        if len(results["results"]) == 1:
            print(
                f"{title(results['environment'])}, "
                f"ONNX Runtime {result['runtime']}, one thread, {options.runs} interleaved runs\n"
                "| model | MB | ms | dynamic: MB | speed | dB | weights: MB | speed | dB |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
            )
        first, *others = result["rows"]
        cells = [f"`{name}`", f"{first['file_bytes'] / 1e6:.2f}", f"{first['latency']['median_ms']:.1f}"]
        for other in others:
            speed = other["speedup"]
            cells.append(f"{other['file_bytes'] / 1e6:.2f}")
            cells.append(f"{speed['ratio']:.2f}x [{speed['low']:.2f}, {speed['high']:.2f}]")
            cells.append(f"{other['worst_sqnr_db']:.1f}")
        print(f"| {' | '.join(cells)} |", flush=True)
    if options.json:
        print(json.dumps(results, indent=1))


def add_command(benches):
    command = benches.add_parser("models", help="size, speed and drift of quantized models")
    command.add_argument(
        "models", nargs="*", metavar="MODEL", help=f"names of the zoo; default: {' '.join(VARIED_MODELS)}"
    )
    command.add_argument("--runs", type=int, default=50, help="timed runs of each (default 50)")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=bench_models)
