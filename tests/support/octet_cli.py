"""Runs Octet's command line and keeps what it said, how long it took and how much memory it had."""

import dataclasses
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("OCTET_BIN") or PROJECT / "build/native/octet").resolve()

# The statuses of README.md, by the code's short name.
EXIT = {
    "usage": 2,
    "read": 3,
    "malformed": 4,
    "unsupported": 5,
    "write": 6,
    "data": 7,
    "non_finite": 8,
    "run": 9,
    "quality": 10,
}


@dataclasses.dataclass(frozen=True)
class Finished:
    command: list
    exit: int  # negative: killed by that signal
    stdout: str
    stderr: str
    seconds: float
    peak_mb: float

    @property
    def said(self):
        return self.stdout + self.stderr

    def succeeded(self):
        assert self.exit == 0, f"exit {self.exit}: {' '.join(self.command)}\n{self.said[-2000:]}"
        return self


def run_process(command, cwd=None):
    """Runs a command to its end. Peak memory is of the whole process tree it waited for, as the kernel counts it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf8", "replace"))
    return Finished([str(word) for word in command], process.returncode, *texts, seconds, usage.ru_maxrss / 1024)


def octet(*arguments, cwd=None):
    return run_process([BINARY, *arguments], cwd)


def quantize(model, output, *options):
    """Quantizes and returns the report."""
    return json.loads(octet("quantize", model, "-o", output, "--json", *options).succeeded().stdout)
