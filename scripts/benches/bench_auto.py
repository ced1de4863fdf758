"""scripts/bench auto: what the automatic search makes of the zoo, beside the float model, the best of the Python
reference's four standard settings, and Octet's default call; natively and in Chromium."""

import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from auto_table import BUDGET_COSINE_DB, BUDGET_DB, COLUMNS, head, lines, markdown, meets_budget, read_rows, write_row
from bench_kit import PROJECT, Failed, build_package, environment, external_data, find_models, in_chromium, octet_json
from bench_kit import settings, title, zoo_entry
from bench_static import MODELS
from reference_models import reference_models

TABLE = PROJECT / "tests/golden/auto.csv"
SAMPLES = 16  # that outputs are compared on, as octet auto does
# A copy of a model is up to 3 % faster or slower than the model itself, by where it comes to lie in memory, however
# often both run: processes that load everything anew show that, rounds of one do not.
PROCESSES, SECONDS = 3, 0.8
WASM_SAMPLES, WASM_SECONDS = 4, 3  # a run takes several times as long there


def metrics_of(zoo, name, *models):
    command = [settings()["OCTET_PYTHON"], PROJECT / "scripts/benches/judge_metric.py", PROJECT, zoo, name, *models]
    values = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return [None if value is None or math.isnan(value) else value for value in values]


def paired_speed(baseline, candidate):
    """Median ratio of paired runs, and the interval that holds 9 of 10 resampled medians, as octet bench has them."""
    ratios = [b / c for b, c in zip(baseline, candidate)]
    draws = random.Random(0)
    medians = [statistics.median(draws.choices(ratios, k=len(ratios))) for _ in range(1000)]
    steps = statistics.quantiles(medians, n=20, method="inclusive")
    return {"ratio": statistics.median(ratios), "low": steps[0], "high": steps[-1]}


def native_bench(data, models):
    """Rows of one interleaved run of as many rounds as fit: many of a small model, fewer of one that takes long."""
    how = ("--threads", "1", "--runs", "1000", "--seconds", SECONDS, "--no-memory")
    return octet_json("bench", *models, "--data", data, "--limit", SAMPLES, *how)["rows"]


def widest(speeds):
    """Of several processes: the median ratio, and an interval that holds the interval of each."""
    how = {"ratio": statistics.median, "low": min, "high": max}
    return {key: choose([speed[key] for speed in speeds]) for key, choose in how.items()}


def running(made, path, data):
    """Of the reference's models those that run, each with its drift in dB; and why the others do not, as words."""
    found, reasons = {}, []
    for setting, (model, why) in made.items():
        if model:
            try:
                compared = octet_json("compare", path, model, "--data", data, "--limit", SAMPLES)
                found[setting] = {"path": model, "db": compared["worst_sqnr_db"]}
                continue
            except Failed as fault:
                why = fault.last_line.replace(f"{model.parent}/", "").removeprefix(f"octet: error: {model.name}: ")
                why = why.partition("; check the model")[0]
        # The runtime names nodes and types between what it says first and last.
        reasons.append(f"{setting}: {why if len(why) < 200 else f'{why[:100]} … {why[-80:]}'}")
    return found, "; ".join(reasons)


def best_of(found, float_metric, path, data):
    """The setting whose model is the fastest within the budget; without any the nearest to float; None of none."""
    within = [key for key, one in found.items() if meets_budget(one["db"], one["metric"], float_metric)]
    if len(within) > 1:
        rows = native_bench(data, [path, *(found[key]["path"] for key in within)])
        speeds = [row["speedup"]["ratio"] for row in rows[1:]]
        return within[speeds.index(max(speeds))]
    return within[0] if within else max(found, key=lambda key: found[key]["db"], default=None)


def shown(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def in_browser(page, path, models, zoo, name):
    files = {"models": [path, *models], "data": external_data(path)}
    files["samples"] = sorted((zoo / "eval" / name).glob("*.npz"))[:WASM_SAMPLES]
    job = {key: [str(file) for file in value] for key, value in files.items()}
    return in_chromium("time_models.mjs", job | {"page": str(page), "seconds": WASM_SECONDS})


def speed_columns(prefix, speed):
    return {f"{prefix}{'speed' if key == 'ratio' else key}": shown(value, 3) for key, value in speed.items()}


def columns_of(kind, measured, metric, web):
    row = {"bytes": measured[0]["file_bytes"], "db": shown(measured[0]["worst_sqnr_db"], 2), "metric": shown(metric, 4)}
    row |= speed_columns("", widest([one["speedup"] for one in measured]))
    row["loads_wasm"] = {True: "yes", False: "no", None: "unknown"}[web["loads"]]
    if "why" in web:
        row["wasm_why"] = (web.get("alone") or f"not timed: {web['why']}")[:160]
    else:
        row |= speed_columns("wasm_", web["latency"]["speedup"])
    return {f"{kind}_{column}": value for column, value in row.items()}


def try_model(name, path, page, time_limit):
    zoo = path.parent.parent
    data, calib = zoo / "eval" / name, zoo / "calib" / name
    with tempfile.TemporaryDirectory() as folder:
        models = {"default": Path(folder) / "default.onnx", "auto": Path(folder) / "auto.onnx"}
        given = ("--calib", calib, "--data", data, "--min-sqnr", "-200")  # without a floor, as scripts/bench static
        octet_json("quantize", path, "-o", models["default"], *given)
        budget = BUDGET_COSINE_DB if zoo_entry(zoo, name)["metric"] == "cosine" else BUDGET_DB
        given = ("--calib", calib, "--eval", data, "--time-limit", time_limit, "--min-sqnr", budget)
        report = octet_json("auto", path, "-o", models["auto"], *given)

        theirs, failures = running(reference_models(path, calib), path, data)
        rated = metrics_of(zoo, name, path, *models.values(), *(one["path"] for one in theirs.values()))
        float_metric, metrics = rated[0], dict(zip(models, rated[1:]))
        for one, metric in zip(theirs.values(), rated[1 + len(models) :]):
            one["metric"] = metric
        setting = best_of(theirs, float_metric, path, data)
        if setting:
            models["reference"], metrics["reference"] = theirs[setting]["path"], theirs[setting]["metric"]

        runs = [native_bench(data, [path, *models.values()]) for _ in range(PROCESSES)]
        web = in_browser(page, path, models.values(), zoo, name)
    row = {"model": name, "float_bytes": runs[0][0]["file_bytes"], "float_metric": shown(float_metric, 4)}
    row["float_ms"] = shown(statistics.median(rows[0]["latency"]["median_ms"] for rows in runs), 3)
    row |= {"reference_setting": setting or "", "reference_why": failures}
    for at, (kind, timed) in enumerate(zip(models, web), start=1):
        row |= columns_of(kind, [rows[at] for rows in runs], metrics[kind], timed)
    if setting:
        pairs = [[rows[at]["milliseconds"] for at in (3, 2)] for rows in runs]  # the reference's, auto's
        row |= speed_columns("auto_over_reference_", widest([paired_speed(*pair) for pair in pairs]))
    (chosen,) = [one for one in report["candidates"] if one["chosen"]]
    row |= {"budget_db": budget, "chosen": report["chosen"]}
    row |= {"nodes_out": len(chosen["moved"]), "measurements": report["measurements"]}
    row |= {"seconds": shown(report["seconds"], 0), "ended_early": report["ended_early"] or ""}
    return {column: str(row.get(column, "")) for column in COLUMNS}


def bench_auto(options):
    if options.table:
        print(markdown(read_rows(options.to)), end="")
        return
    environ = settings()
    build_package(environ)
    results, failed = {"environment": environment(), "results": {}}, []
    with tempfile.TemporaryDirectory() as page:
        subprocess.run(["node", PROJECT / "scripts/benches/bundle_package.mjs", page], check=True)
        for name, path in find_models(options.models or MODELS, environ["OCTET_PYTHON"]):
            try:
                row = results["results"][name] = try_model(name, path, page, options.time_limit)
            except (Failed, subprocess.CalledProcessError) as fault:  # the others are still worth measuring
                failed.append(name)
                print(fault, file=sys.stderr, flush=True)
                continue
            if options.write:
                write_row(options.to, row, MODELS)
            if not options.json:
                if len(results["results"]) == 1:
                    print(f"{title(results['environment'])}, one thread, interleaved\n{head()}")
                print("\n".join(lines(row)), flush=True)
    if options.json:
        print(json.dumps(results, indent=1))
    if failed:
        raise SystemExit(f"bench: failed: {' '.join(failed)}")


def add_command(benches):
    command = benches.add_parser("auto", help="the automatic search, beside the default and the reference")
    command.add_argument("models", nargs="*", metavar="MODEL", help=f"names of the zoo; default: {' '.join(MODELS)}")
    command.add_argument("--time-limit", default="120", metavar="SECONDS", help="of each search (default 120)")
    command.add_argument("--write", action="store_true", help="put each row into the table as soon as it is measured")
    command.add_argument("--table", action="store_true", help="measure nothing: the table as README.md has it")
    command.add_argument("--to", type=Path, default=TABLE, metavar="FILE", help="default: tests/golden/auto.csv")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=bench_auto)
