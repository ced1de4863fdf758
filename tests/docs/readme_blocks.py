"""The examples of README.md: finding them, running them, comparing what they say with what is shown.

An example is a fenced block after the line `<!-- checked -->`: commands after `$`, each with its whole output. They run in
a folder of their own that sees scripts/ and tests/. `python readme_blocks.py` runs all of them and writes their output
into README.md.
"""

import dataclasses
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
README = PROJECT / "README.md"
BINARY = Path(os.environ.get("OCTET_BIN") or PROJECT / "build/native/octet").resolve()

_BLOCK = re.compile(r"(?<=<!-- checked -->\n```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)

# What differs from run to run or between machines: times, speeds, memory, the machine itself. Words around it stay.
_VOLATILE = [
    (re.compile(r"\d[\d.]* m?s\b"), "TIME"),
    (re.compile(r"\d[\d.]*×(?! smaller| larger)"), "TIMES"),
    (re.compile(r"(?<=\(median of )\d+"), "N"),
    (re.compile(r"(?<= in TIME with )\S+ [kM]B"), "MEMORY"),
    (re.compile(r"largest error \S+ of the largest value"), "largest error"),  # of float sums in another order
    (re.compile(r"[^|]* core.*, load [^;]*; "), ""),  # the machine
    (re.compile(r"^[^|]* cores?, .*load .*, governor .*"), "MACHINE"),
    (re.compile(r"\bx64-novnni\b|\bx64\b|\barm64\b"), "TARGET"),
]
# Verdicts that differ in nothing but how fast the run was: they stand for each other, their size and drift stay.
_SIZE, _DRIFT = r"([\d.]+× (?:smaller|larger))", r"((?:, \d+ dB)?)"
_VERDICTS = [
    re.compile(rf"Ship it: {_SIZE}, (?:TIMES faster|as fast as before) here{_DRIFT}\.$"),
    re.compile(
        rf"Smaller but slower: {_SIZE}, TIMES slower here{_DRIFT}\. Ship it only where size matters more than time\.$"
    ),
    re.compile(
        rf"Smaller, but time it again: {_SIZE}, speed lost in noise \(TIMES to TIMES\){_DRIFT}\. "
        r"A quiet machine tells\.$"
    ),
]
# Said under a verdict that is not to ship, which may be the speed's doing.
_ADVICE = ("why: ", "try: ")
# Why a static model is as fast as it is: of a fast one; of others what comes of the graph, and what of a run's time.
_SPEED = "speed TIMES: "
_FAST = re.compile(r"(?:all|\d+ of) \d+ products run in integers")
_SLOW = re.compile(r"\d+ of \d+ products stay in float \(.*\)|\d+ conversions lie between integers and float")
_SHORT = {
    "a float run takes only TIME, and the work around each operator does not shrink",
    "what is no product, or has no faster integer kernel, takes the time",
}
_TIMED_COLUMNS = {"Latency (ms)", "Throughput", "Speedup"}
_TIMED_COLUMNS |= {"memory", "median", "mean", "spread", "outliers", "per second", "load", "speedup"}

# Numbers may differ by this much, or this share where the unit has none: kernels of other processors round otherwise.
_TOLERANCE = {"dB": 4.0, "%": 2.0, "MB": 0.01, "kB": 0.1}
_SHARE = 0.05
_NUMBER = re.compile(r"(?<![\w.])(-?\d[\d,]*\.?\d*)(?: (dB|%|MB|kB)(?!\w))?")


@dataclasses.dataclass
class Example:
    command: str
    shown: str


def examples_in(block):
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    assert not parts[0].strip(), f"output before the first command: {parts[0]!r}"
    return [Example(command, shown) for command, shown in zip(parts[1::2], parts[2::2], strict=True)]


def blocks():
    return [examples_in(block) for block in _BLOCK.findall(README.read_text())]


def run(examples):
    """What each command of one block says, in order; they share a folder."""
    said = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scripts", "tests"):
            (Path(folder) / name).symlink_to(PROJECT / name)
        for example in examples:
            words = shlex.split(example.command)
            programs = {"scripts/octet": [BINARY], "scripts/demo": [sys.executable, PROJECT / "scripts/demo.py"]}
            finished = subprocess.run(
                [*programs[words[0]], *words[1:]],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | {"OCTET_BIN": str(BINARY)},
            )
            said.append(finished.stdout)
    return said


def _columns_of(line):
    return re.split(r" *\| *| {2,}", line.strip())


def stable(text):
    """Lines without what cannot be the same twice."""
    lines, timed, width = [], set(), 0
    for line in text.strip().splitlines():
        if line.startswith(_ADVICE):
            continue
        cells = _columns_of(line)
        if _TIMED_COLUMNS & set(cells) or len(cells) != width:  # another table, or none
            timed, width = {i for i, cell in enumerate(cells) if cell in _TIMED_COLUMNS}, len(cells)
        line = " | ".join(cell for i, cell in enumerate(cells) if i not in timed)
        for pattern, replacement in _VOLATILE:
            line = pattern.sub(replacement, line)
        for pattern in _VERDICTS:
            line = pattern.sub(r"VERDICT: \1\2", line)
        lines.append(" ".join(line.split()))
    return lines


def _same_speed(shown, said):
    """Both lines, made equal where all that makes them differ is how fast each run was."""
    reasons = [line.removeprefix(_SPEED).split("; ") for line in (shown, said)]
    fast = [len(words) == 1 and bool(_FAST.fullmatch(words[0])) for words in reasons]
    slow = [all(word in _SHORT or _SLOW.fullmatch(word) for word in words) for words in reasons]
    if fast[0] and slow[1] or slow[0] and fast[1]:
        return said, said
    of_the_graph = (_SPEED + "; ".join(word for word in words if word not in _SHORT) for words in reasons)
    return tuple(of_the_graph)


def _close(shown, said, unit):
    a, b = (float(text.replace(",", "")) for text in (shown, said))
    return abs(a - b) <= max(_TOLERANCE.get(unit, 0), 0.0 if unit in ("MB", "kB") else _SHARE * abs(b)) + 1e-9


def difference(shown, said):
    """The first line that is not true any more; empty when all are."""
    shown_lines, said_lines = stable(shown), stable(said)
    for a, b in zip(shown_lines, said_lines):
        if a.startswith(_SPEED) and b.startswith(_SPEED):
            a, b = _same_speed(a, b)
        numbers_a, numbers_b = _NUMBER.findall(a), _NUMBER.findall(b)
        same = _NUMBER.sub("#", a) == _NUMBER.sub("#", b) and all(
            x[1] == y[1] and _close(x[0], y[0], x[1]) for x, y in zip(numbers_a, numbers_b, strict=True)
        )
        if not same:
            return f"shown: {a}\nsaid:  {b}"
    if len(shown_lines) != len(said_lines):
        return f"{len(shown_lines)} lines are shown, {len(said_lines)} were said"
    return ""


def main():
    def fresh(match):
        examples = examples_in(match[0])
        return "".join(f"$ {e.command}\n{said}" for e, said in zip(examples, run(examples), strict=True))

    README.write_text(_BLOCK.sub(fresh, README.read_text()))


if __name__ == "__main__":
    main()
