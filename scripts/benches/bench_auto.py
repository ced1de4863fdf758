"""scripts/bench auto: what the automatic search makes of the zoo, beside the float model, the best that the Python
reference reaches by its own options, and Octet's default call."""

import csv
import json
import subprocess
import tempfile
from pathlib import Path

from bench_kit import PROJECT, environment, find_models, octet_json, settings, title
from bench_static import MODELS

TABLE = PROJECT / "tests/golden/auto.csv"
REFERENCE = PROJECT / "tests/golden/static_reference.csv"
COLUMNS = ["model", "float_bytes", "float_metric", "reference_db", "reference_metric"]
COLUMNS += ["default_bytes", "default_db", "default_speed", "default_low", "default_high", "default_metric"]
COLUMNS += ["auto_bytes", "auto_db", "auto_speed", "auto_low", "auto_high", "auto_metric"]
COLUMNS += ["chosen", "nodes_out", "measurements", "seconds", "ended_early"]


def best_of_reference():
    """By model, the row in which the Python reference is nearest: it is measured per tensor and per channel there."""
    best = {}
    with REFERENCE.open(newline="") as file:
        for row in csv.DictReader(file):
            best_so_far = best.get(row["model"])
            if row["reference_db"] and (not best_so_far or float(row["reference_db"]) > float(best_so_far["reference_db"])):
                best[row["model"]] = row
    return best


def metrics_of(zoo, name, *models):
    command = [settings()["OCTET_PYTHON"], PROJECT / "scripts/benches/judge_metric.py", PROJECT, zoo, name, *models]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def shown(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def try_model(name, path, reference, time_limit):
    zoo = path.parent.parent
    data, calib = zoo / "eval" / name, ("--calib", zoo / "calib" / name)
    with tempfile.TemporaryDirectory() as folder:
        usual, found = Path(folder) / "usual.onnx", Path(folder) / "auto.onnx"
        octet_json("quantize", path, "-o", usual, *calib, "--data", data, "--min-sqnr", "-200")
        report = octet_json("auto", path, "-o", found, *calib, "--eval", data, "--time-limit", time_limit)
        timing = ("--threads", "1", "--runs", "50", "--seconds", "15", "--no-memory")
        rows = octet_json("bench", path, usual, found, "--data", data, "--limit", "16", *timing)["rows"]
        metrics = metrics_of(zoo, name, path, usual, found)
    (chosen,) = [one for one in report["candidates"] if one["chosen"]]
    row = {"model": name, "float_bytes": rows[0]["file_bytes"], "float_metric": shown(metrics[0], 4)}
    if name in reference:
        row |= {key: reference[name][key] for key in ("reference_db", "reference_metric")}
    for kind, measured, metric in zip(("default", "auto"), rows[1:], metrics[1:]):
        speed = measured["speedup"]
        row |= {
            f"{kind}_bytes": measured["file_bytes"],
            f"{kind}_db": shown(measured["worst_sqnr_db"], 1),
            f"{kind}_speed": shown(speed["ratio"], 2),
            f"{kind}_low": shown(speed["low"], 2),
            f"{kind}_high": shown(speed["high"], 2),
            f"{kind}_metric": shown(metric, 4),
        }
    row |= {"chosen": report["chosen"], "nodes_out": len(chosen["moved"]), "measurements": report["measurements"]}
    return row | {"seconds": shown(report["seconds"], 0), "ended_early": report["ended_early"] or ""}


def write_row(row):
    rows = {}
    if TABLE.exists():
        with TABLE.open(newline="") as file:
            rows = {one["model"]: one for one in csv.DictReader(file)}
    rows[row["model"]] = row
    order = {name: place for place, name in enumerate(MODELS)}
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows.values(), key=lambda one: (order.get(one["model"], len(order)), one["model"])))


def bench_auto(options):
    reference = best_of_reference()
    results = {"environment": environment(), "results": {}}
    for name, path in find_models(options.models or MODELS, settings()["OCTET_PYTHON"]):
        row = results["results"][name] = try_model(name, path, reference, options.time_limit)
        if options.write:
            write_row(row)
        if options.json:
            continue
        if len(results["results"]) == 1:
            print(
                f"{title(results['environment'])}, one thread, interleaved\n"
                "| model | MB | reference: dB | default: MB | speed | dB | auto: MB | speed | dB | nodes out | s | chosen |\n"
                f"|{' --- |' * 12}"
            )
        cells = [f"`{name}`", f"{row['float_bytes'] / 1e6:.2f}", row.get("reference_db", "")]
        for kind in ("default", "auto"):
            cells += [f"{row[f'{kind}_bytes'] / 1e6:.2f}"]
            cells += [f"{row[f'{kind}_speed']}x [{row[f'{kind}_low']}, {row[f'{kind}_high']}]", row[f"{kind}_db"]]
        cells += [f"{row['nodes_out']}", row["seconds"], row["chosen"]]
        print(f"| {' | '.join(cells)} |", flush=True)
    if options.json:
        print(json.dumps(results, indent=1))


def add_command(benches):
    command = benches.add_parser("auto", help="the automatic search: what it chooses, beside the default and the reference")
    command.add_argument("models", nargs="*", metavar="MODEL", help=f"names of the zoo; default: {' '.join(MODELS)}")
    command.add_argument("--time-limit", default="120", metavar="SECONDS", help="of each search (default 120)")
    command.add_argument("--write", action="store_true", help="put the rows into tests/golden/auto.csv")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=bench_auto)
