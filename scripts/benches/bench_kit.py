"""What the benchmarks share: where things are, whole processes measured, models found, the machine described."""

import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
OCTET = Path(os.environ.get("OCTET_BIN") or PROJECT / "build/native/octet").resolve()

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # for the other tools: ONNX Runtime reports home else


class Failed(SystemExit):
    """A process that failed: its command and its last words. Uncaught, it ends the benchmark with them."""

    def __init__(self, command, said):
        super().__init__(f"bench: {shlex.join(map(str, command))}\n{said[-2000:]}")
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        self.last_line = lines[-1] if lines else "no word"


def settings():
    path = PROJECT / "build/deps/env.sh"
    if not path.exists() or not OCTET.exists():
        subprocess.run([PROJECT / "scripts/octet", "--version"], check=True, stdout=subprocess.DEVNULL)
    words = [word for line in path.read_text().splitlines() for word in shlex.split(line)]
    return dict(word.split("=", 1) for word in words if "=" in word)


def build(*commands):
    for command in commands:
        subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)


def build_package(environ):
    """The npm package, up to date; OCTET_PACKAGE names another."""
    if "OCTET_PACKAGE" not in os.environ:
        build(
            [environ["OCTET_CMAKE"], "--preset", "wasm"],
            ["ninja", "-C", "build/wasm", "octet_wasm"],
            ["npm", "--prefix", "wasm", "run", "build"],
        )


def build_page(environ):
    """The page as it is deployed, up to date."""
    build_package(environ)
    build(["npm", "--prefix", "web", "run", "build"])


def in_chromium(script, job):
    """What a script beside this one, that starts Chromium, makes of the job."""
    command = ["node", PROJECT / "scripts/benches" / script, json.dumps(job)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def run(command):
    """Seconds and peak megabytes of a whole process. A child's peak starts with ours, so this process stays small."""
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            raise Failed(command, errors.read().decode(errors="replace") or f"exit status {process.returncode}")
    return seconds, usage.ru_maxrss / 1024


def octet_json(*arguments):
    """What a command of octet reports."""
    command = [OCTET, *map(str, arguments), "--json"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise Failed(command, finished.stderr)
    return json.loads(finished.stdout)


def external_data(model):
    """Files beside a model that hold weights of it."""
    beside = list(model.parent.glob("*.data"))
    inside = model.read_bytes() if beside else b""
    return [path for path in sorted(beside) if path.name.encode() in inside]


def find_models(names, python):
    paths = {name: Path(name) for name in names if name.endswith(".onnx")}
    zoo_names = [name for name in names if name not in paths]
    if zoo_names:
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); import fetch_zoo; "
            "folder, entries = fetch_zoo.ensure(only=sys.argv[2:]); "
            "print(*(folder / e['file'] for e in entries), sep='\\n')"
        )
        lines = subprocess.run(
            [python, "-c", code, PROJECT / "tests/zoo", *zoo_names], check=True, stdout=subprocess.PIPE, text=True
        )
        found = {Path(line).stem: Path(line) for line in lines.stdout.splitlines() if line.endswith(".onnx")}
        paths.update({name: found[name] for name in zoo_names})
    return [(Path(name).stem, paths[name]) for name in names]


def zoo_entry(zoo, name):
    """What zoo.json of the folder says of a model."""
    (entry,) = [one for one in json.loads((zoo / "zoo.json").read_text())["models"] if one["name"] == name]
    return entry


def environment():
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    commit = subprocess.run(
        ["git", "-C", PROJECT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return {
        "cpu": cpu,
        "threads": os.cpu_count(),
        "system": platform.platform(),
        "load": os.getloadavg()[0],
        "commit": commit.stdout.strip(),
        "command": shlex.join(sys.argv),
    }


def title(facts):
    """The machine in words, for the head of a table."""
    return f"{facts['cpu']}, {facts['threads']} threads, load {facts['load']:.1f}, commit {facts['commit']}"
