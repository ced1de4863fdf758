"""Runs Octet's command line as a user would."""

import dataclasses
import json
import os
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("OCTET_BIN") or PROJECT / "build/native/octet").resolve()

# The statuses of README.md, by the code's short name.
EXIT = {"usage": 2, "read": 3, "malformed": 4, "unsupported": 5, "write": 6}
EXIT |= {"data": 7, "non_finite": 8, "run": 9, "quality": 10}


@dataclasses.dataclass(frozen=True)
class Finished:
    command: list
    exit: int  # negative: killed by that signal
    stdout: str
    stderr: str

    @property
    def said(self):
        return self.stdout + self.stderr

    def succeeded(self):
        assert self.exit == 0, f"exit {self.exit}: {' '.join(self.command)}\n{self.said[-2000:]}"
        return self


def octet(*arguments, cwd=None):
    command = [str(BINARY), *map(str, arguments)]
    # These tests silence the runtime for themselves; that Octet does so too is part of what they test.
    environment = {name: text for name, text in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, cwd=cwd, env=environment, check=False)
    return Finished(command, run.returncode, *(text.decode("utf8", "replace") for text in (run.stdout, run.stderr)))


def quantize(model, output, *options):
    """Quantizes and returns the report."""
    return json.loads(octet("quantize", model, "-o", output, "--json", *options).succeeded().stdout)
