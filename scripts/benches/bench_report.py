"""scripts/bench report: each mode, natively and in Chromium, with one thread and all: what to ship where."""

import json
import os
import statistics
import tempfile
from pathlib import Path

from bench_kit import build_page, environment, find_models, in_chromium, octet_json, settings, title

# Convolutional, transformer, recurrent, OCR, and the small GPT.
MODELS = ["nudenet", "minilm_l6", "nsnet2", "ppocr4_rec", "gpt_char"]
MODES = ("dynamic", "static", "weights")
SAMPLES = 8  # that outputs are compared on, and that are timed in turn


def native(name, path, runs):
    """Rows of one interleaved run, the float model first."""
    zoo = path.parent.parent
    data = ("--data", zoo / "eval" / name, "--limit", SAMPLES)
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder) / f"{mode}.onnx" for mode in MODES]
        for mode, output in zip(MODES, outputs, strict=True):
            calib = ("--calib", zoo / "calib" / name) if mode == "static" else ()
            octet_json("quantize", path, "-o", output, "--mode", mode, "--target", "x64", *calib, *data)
        threads = ",".join(map(str, sorted({1, os.cpu_count()})))
        return octet_json("bench", path, *outputs, *data, "--threads", threads, "--runs", runs)


def browser(name, path):
    """The page's report of each mode."""
    zoo = path.parent.parent
    samples = {part: sorted(map(str, (zoo / part / name).glob("*.npz"))) for part in ("calib", "eval")}
    job = {"model": str(path), "calib": samples["calib"], "eval": samples["eval"][:SAMPLES], "modes": MODES}
    return in_chromium("time_variants.mjs", job)


def measured_in(bench, web):
    """By variant and thread count: size, drift, and per place the median and the speed against float there."""
    variants = {}
    for at, variant in enumerate(("float", *MODES)):
        rows = [row for i, row in enumerate(bench["rows"]) if i % (1 + len(MODES)) == at]
        reports = [web[variant]] if variant in MODES else list(web.values())
        comparisons = [report["comparison"] for report in reports]
        entry = variants[variant] = {"native": {}, "chromium": {}}
        entry["bytes"] = {
            "native": rows[0]["file_bytes"],
            "chromium": reports[0]["sizes"]["output_bytes" if variant in MODES else "input_bytes"],
        }
        if variant in MODES:
            entry["sqnr_db"] = {"native": rows[0]["worst_sqnr_db"], "chromium": comparisons[0]["worst_sqnr_db"]}
            entry["verdict"] = {
                "native": rows[0]["verdict"]["sentence"],
                "chromium": comparisons[0]["verdict"]["sentence"],
            }
        for row in rows:
            entry["native"][row["threads"]] = {"ms": row["latency"]["median_ms"], "speed": row.get("speedup")}
        for timed in zip(*(comparison["latency_by_threads"] for comparison in comparisons), strict=True):
            side = "candidate" if variant in MODES else "baseline"
            entry["chromium"][timed[0]["threads"]] = {
                # The float model was timed beside each mode.
                "ms": statistics.median(one[side]["median_ms"] for one in timed),
                "speed": timed[0]["speedup"] if variant in MODES else None,
            }
    return variants


def cell(measured):
    if measured is None:
        return "-"
    speed = measured["speed"]
    against = f", {speed['ratio']:.2f}x [{speed['low']:.2f}, {speed['high']:.2f}]" if speed else ""
    return f"{measured['ms']:.2f} ms{against}"


def differing(values, text):
    """One where both places have the same, else both."""
    native, chromium = text(values["native"]), text(values["chromium"])
    return native if native == chromium else f"{native}, {chromium}"


def lines(name, variants, threads):
    for variant, entry in variants.items():
        cells = [f"`{name}`" if variant == "float" else "", variant]
        cells.append(differing(entry["bytes"], lambda value: f"{value / 1e6:.2f}"))
        cells.append(differing(entry["sqnr_db"], lambda value: f"{value:.1f}") if "sqnr_db" in entry else "-")
        cells += [cell(entry[place].get(count)) for place in ("native", "chromium") for count in threads]
        cells.append(f"{entry['chromium'][1]['ms'] / entry['native'][1]['ms']:.1f}")
        yield f"| {' | '.join(cells)} |"


def bench_report(options):
    environ = settings()
    build_page(environ)
    results = {"environment": environment(), "runs": options.runs, "results": {}}
    threads = sorted({1, os.cpu_count()})
    for name, path in find_models(options.models or MODELS, environ["OCTET_PYTHON"]):
        bench, web = native(name, path, options.runs), browser(name, path)
        variants = measured_in(bench, web)
        if options.json:
            results["results"][name] = {"variants": variants, "native": bench, "chromium": web}
            continue
        if not results["results"]:
            heads = [f"{place}, {count} thread{'s' if count > 1 else ''}" for place in ("native", "Chromium") for count in threads]
            heads = ["model", "variant", "MB", "dB", *heads, "Chromium : native"]
            print(
                f"{title(results['environment'])}; ONNX Runtime {bench['runtime']} natively, "
                f"{web['static']['comparison']['environment']['runtime']}; medians of {options.runs} interleaved runs "
                f"natively and of the page's own in Chromium\n| {' | '.join(heads)} |\n|{' --- |' * len(heads)}"
            )
        results["results"][name] = variants
        print("\n".join(lines(name, variants, threads)), flush=True)
    if options.json:
        print(json.dumps(results, indent=1))


def add_command(benches):
    command = benches.add_parser("report", help="every mode, natively and in Chromium, with one thread and all")
    command.add_argument("models", nargs="*", metavar="MODEL", help=f"names of the zoo; default: {' '.join(MODELS)}")
    command.add_argument("--runs", type=int, default=50, help="timed runs of each natively (default 50)")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=bench_report)
