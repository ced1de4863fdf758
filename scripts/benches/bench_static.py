"""scripts/bench static: what static quantization with default settings makes of the zoo, and why it is as fast as it is."""

import json
import tempfile
from pathlib import Path

from bench_kit import environment, find_models, octet_json, settings, title

MODELS = ["nudenet", "dddd_det", "dddd_ocr", "magika", "oww_embedding", "aecmos", "eeg_seizure", "ewn_resnet50"]
MODELS += ["attacut_c", "khmersm", "minilm_l6", "rxnmap", "vit_focus", "ppocr4_rec", "ppocr4_det", "ppocr6_det"]
MODELS += ["gpt_char", "nsnet2", "oww_jarvis", "oww_mycroft", "silero_v4", "silero_v6", "surfaces_mlp", "ppocr_cls"]
MODELS += ["mtcnn_pnet", "basic_pitch", "oww_mel"]


def try_model(name, path, runs):
    zoo = path.parent.parent
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "static.onnx"
        data = ("--data", zoo / "eval" / name)
        # Without a floor: what the settings themselves come to.
        options = ("--target", "x64", "--min-sqnr", "-200", *data)
        report = octet_json("quantize", path, "-o", output, "--calib", zoo / "calib" / name, *options)
        timing = ("--threads", "1", "--runs", runs, "--seconds", "15", "--no-memory")
        return {"report": report, "bench": octet_json("bench", path, output, *data, *timing)}


def bench_static(options):
    results = {"environment": environment(), "runs": options.runs, "results": {}}
    for name, path in find_models(options.models or MODELS, settings()["OCTET_PYTHON"]):
        result = results["results"][name] = try_model(name, path, options.runs)
        if options.json:
            continue
        bench, report = result["bench"], result["report"]
        if len(results["results"]) == 1:
            print(
                f"{title(results['environment'])}, "
                f"ONNX Runtime {bench['runtime']}, one thread, {options.runs} interleaved runs\n"
                "| model | MB | static: MB | ms | static: ms | speed | dB | what decides |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- |"
            )
        first, second = bench["rows"]
        speed, why = second["speedup"], report.get("speed", "").partition(": ")[2].strip()
        cells = [f"`{name}`", f"{first['file_bytes'] / 1e6:.2f}", f"{second['file_bytes'] / 1e6:.2f}"]
        cells += [f"{row['latency']['median_ms']:.2f}" for row in (first, second)]
        cells += [f"{speed['ratio']:.2f}x [{speed['low']:.2f}, {speed['high']:.2f}]"]
        cells += [f"{second['worst_sqnr_db']:.1f}", why]
        print(f"| {' | '.join(cells)} |", flush=True)
    if options.json:
        print(json.dumps(results, indent=1))


def add_command(benches):
    command = benches.add_parser("static", help="static quantization: size, speed, drift, and what decides")
    command.add_argument("models", nargs="*", metavar="MODEL", help=f"names of the zoo; default: {' '.join(MODELS)}")
    command.add_argument("--runs", type=int, default=50, help="timed runs of each (default 50)")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=bench_static)
