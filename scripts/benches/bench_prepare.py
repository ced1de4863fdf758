"""scripts/bench prepare: nodes left and wall time of preparing, beside onnxslim and onnxsim.

Their environment is made on first use, in the cache folder, from scripts/simplifiers.txt; nothing else needs it.
"""

import hashlib
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_kit import OCTET, PROJECT, Failed, environment, find_models, octet_json, run, settings, title

REQUIREMENTS = PROJECT / "scripts/simplifiers.txt"
TOOLS = ("octet", "onnxslim", "onnxsim")
SLIM = "import sys, onnxslim; onnxslim.slim(sys.argv[1], sys.argv[2])"
SIM = """
import sys, onnx, onnxsim
model, same = onnxsim.simplify(sys.argv[1])
onnx.save(model, sys.argv[2])
"""
MOST_SIZE = 1.01  # of the original
MOST_DIFFERENCE = 1e-4  # of the largest value: float sums in another order stay below, a changed computation does not


def simplifiers(base, cache):
    """The Python that has both tools."""
    name = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = Path(cache) / f"venv-simplifiers-{name}"
    if not (folder / ".complete").exists():
        print("bench: creating the environment of onnxslim and onnxsim", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([base, "-m", "venv", folder], check=True)
        install = ["install", "--quiet", "--require-hashes", "--only-binary", ":all:", "-r", REQUIREMENTS]
        subprocess.run([folder / "bin/pip", *install], check=True, stdout=sys.stderr)
        (folder / ".complete").touch()
    return folder / "bin/python"


def try_tools(model, runs, tools, python, folder):
    """Times of every tool, interleaved, and what is to be said of its output."""
    outputs = {tool: folder / tool / "prepared.onnx" for tool in TOOLS}
    for path in outputs.values():
        path.parent.mkdir()
    commands = {
        "octet": [OCTET, "prepare", model, "-o", outputs["octet"], "--no-verify", "--force"],
        "onnxslim": [tools, "-c", SLIM, model, outputs["onnxslim"]],
        "onnxsim": [tools, "-c", SIM, model, outputs["onnxsim"]],
    }
    rows = {tool: {"ms": [], "fault": None} for tool in TOOLS}
    for timed in range(runs + 1):  # the first run warms the file cache
        for tool, command in commands.items():
            if rows[tool]["fault"]:
                continue
            try:
                seconds, megabytes = run(command)
            except Failed as failed:
                rows[tool]["fault"] = f"fails: {failed.last_line[:120]}"
                outputs[tool].unlink(missing_ok=True)
                continue
            if timed:
                rows[tool]["ms"].append(1e3 * seconds)
                rows[tool]["peak_mb"] = max(megabytes, rows[tool].get("peak_mb", 0))
    samples = model.parent.parent / "eval" / model.stem
    judge = [python, Path(__file__).with_name("judge_prepared.py"), PROJECT / "tests/support"]
    judge += [samples if samples.is_dir() else "-", model, *outputs.values()]
    original, *judged = json.loads(subprocess.run(judge, check=True, stdout=subprocess.PIPE).stdout)
    for row, verdict in zip(rows.values(), judged):
        if row["ms"]:
            row["median_ms"] = statistics.median(row["ms"])
        row.update({key: verdict[key] for key in ("nodes", "bytes", "difference")})
        if verdict["fault"]:
            row["fault"] = f"does not run: {verdict['fault']}"
        elif row["difference"] is not None and not row["difference"] <= MOST_DIFFERENCE:
            far = f"{row['difference']:.1e} off" if math.isfinite(row["difference"]) else "another shape or type"
            row["fault"] = f"wrong output: {far}"
    return {"nodes": original["nodes"], "bytes": original["bytes"], "tools": rows}, outputs["octet"]


def latency(model, prepared):
    """How often the prepared model runs while the original runs once."""
    samples = model.parent.parent / "eval" / model.stem
    data = ("--data", samples) if samples.is_dir() else ()
    reported = octet_json("bench", model, prepared, *data, "--threads", "1", "--seconds", "15", "--no-memory")
    return reported["rows"][1]["speedup"]


def judge(result):
    """Adds how Octet stands against the better of the others; a tool that fails is not better."""
    octet, *others = (result["tools"][tool] for tool in TOOLS)
    sound = [row for row in others if not row["fault"]]
    result["fewest_elsewhere"] = min((row["nodes"] for row in sound), default=None)
    small = [row["nodes"] for row in sound if row["bytes"] <= MOST_SIZE * result["bytes"]]
    result["at_or_below"] = not octet["fault"] and octet["nodes"] <= (result["fewest_elsewhere"] or math.inf)
    result["at_or_below_small"] = not octet["fault"] and octet["nodes"] <= min(small, default=math.inf)
    times = [row["median_ms"] for row in others if row.get("median_ms")]
    result["times_faster"] = min(times) / octet["median_ms"] if times and octet.get("median_ms") else None
    result["size"] = octet["bytes"] / result["bytes"] if octet["bytes"] else None


def summary(results):
    ahead = [r for r in results if r["at_or_below"]]
    faster = [r["times_faster"] for r in results if r["times_faster"]]
    small = sum(r["at_or_below_small"] for r in results)
    lines = [
        f"nodes: Octet at or below the better of the two on {len(ahead)} of {len(results)} models; on {small} where a "
        "file that grew by more than 1 % does not count as better"
    ]
    if behind := [r["model"] for r in results if not r["at_or_below"]]:
        lines.append(f"  above on {', '.join(behind)}")
    if faulty := [f"{r['model']} ({r['tools']['octet']['fault']})" for r in results if r["tools"]["octet"]["fault"]]:
        lines.append(f"  Octet itself: {'; '.join(faulty)}")
    if larger := [f"{r['model']} {r['size']:.3f}" for r in results if (r["size"] or 0) > MOST_SIZE]:
        lines.append(f"  larger than the original by more than 1 %: {', '.join(larger)}")
    if faster:
        mean = math.exp(statistics.mean(map(math.log, faster)))
        won = sum(times > 1 for times in faster)
        lines.append(
            f"time: Octet faster than both on {won} of {len(faster)}, {mean:.1f} times the faster one "
            f"(geometric mean), {min(faster):.1f} at least"
        )
    if slower := [r["model"] for r in results if "speedup" in r and r["speedup"]["high"] < 1]:
        lines.append(f"latency: slower than the original: {', '.join(slower)}")
    return lines


def table_row(result):
    cells = [f"`{result['model']}`", str(result["nodes"])]
    for row in result["tools"].values():
        growth = (row["bytes"] or 0) / result["bytes"]
        cells.append(row["fault"] or f"{row['nodes']}" + (f" ({growth:.3g}x the size)" if growth > MOST_SIZE else ""))
    for row in result["tools"].values():
        cells.append(f"{row['median_ms']:.0f}" if "median_ms" in row else "–")
    cells.append(f"{result['times_faster']:.1f}x" if result["times_faster"] else "–")
    cells.append(f"{result['size']:.3f}" if result["size"] else "–")
    if "speedup" in result:
        speed = result["speedup"]
        cells.append(f"{speed['ratio']:.2f}x [{speed['low']:.2f}, {speed['high']:.2f}]")
    return f"| {' | '.join(cells)} |"


def bench_prepare(options):
    known = settings()
    python = known["OCTET_PYTHON"]
    tools = simplifiers(python, known["OCTET_CACHE"])
    manifest = json.loads((PROJECT / "tests/zoo/manifest.json").read_text())
    names = options.models or [model["name"] for model in manifest["models"]]
    results = {"environment": environment(), "runs": options.runs, "results": []}
    if not options.json:
        heads = ["model", "nodes", *TOOLS, *(f"{tool} ms" for tool in TOOLS), "faster", "size"]
        heads += ["latency"] if options.latency else []
        print(
            f"{title(results['environment'])}\nwhole processes, median of {options.runs} interleaved runs; "
            "nodes of all graphs; faster: than the faster of the others; size: of the original's\n"
            f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}"
        )
    for name, path in find_models(names, python):
        with tempfile.TemporaryDirectory() as folder:
            result, prepared = try_tools(path, options.runs, tools, python, Path(folder))
            if options.latency and not result["tools"]["octet"]["fault"]:
                result["speedup"] = latency(path, prepared)
        result["model"] = name
        judge(result)
        results["results"].append(result)
        if not options.json:
            print(table_row(result), flush=True)
    results["summary"] = summary(results["results"])
    print(json.dumps(results, indent=1) if options.json else "\n".join(results["summary"]))


def add_command(benches):
    command = benches.add_parser("prepare", help="nodes and wall time of preparing, beside onnxslim and onnxsim")
    command.add_argument("models", nargs="*", metavar="MODEL", help="names of the zoo or paths; default: the whole zoo")
    command.add_argument("--runs", type=int, default=3, help="timed runs of each, after one to warm up (default 3)")
    command.add_argument("--latency", action="store_true", help="time the prepared model against the original too")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=bench_prepare)
