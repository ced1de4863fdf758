"""What the documents say is true: examples give the output shown, options, statuses and paths exist."""

import csv
import json
import re
import sys

import pytest
from octet_cli import EXIT, octet
from readme_blocks import blocks, difference, run
from source_tree import PROJECT, files

sys.path.append(str(PROJECT / "scripts/benches"))
from auto_table import markdown, read_rows

README = (PROJECT / "README.md").read_text()
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
# Words in backquotes that look like paths and are examples, or appear only once something was built.
NOT_IN_THE_TREE = {"labels.json", "small.onnx", "OUTPUT.data"}


@pytest.mark.parametrize("examples", blocks(), ids=lambda examples: examples[0].command.split()[0])
def test_examples_say_what_is_shown(examples):
    for example, said in zip(examples, run(examples), strict=True):
        wrong = difference(example.shown, said)
        assert not wrong, f"$ {example.command}\n{wrong}"


def test_there_are_examples():
    assert {word for examples in blocks() for e in examples for word in e.command.split()[:2]} >= {
        *("scripts/demo", "scripts/octet", "prepare", "calibrate", "quantize", "compare")
    }


def table_after(heading):
    section = README.split(f"{heading}\n", 1)[1].split("\n#", 1)[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_exit_statuses_are_those_of_the_core():
    source = (PROJECT / "core/src/model/error.cc").read_text()
    statuses = {int(status) for status in re.findall(r"CodeRow\{ErrorCode::\w+, (\d+),", source)}
    shown = {int(row[0]) for row in table_after("## Exit status")}
    assert shown == statuses | {0}
    assert set(EXIT.values()) <= shown
    assert all(f"{status} " in octet("--help").stdout for status in shown)


def helps():
    commands = ("inspect", "prepare", "calibrate", "quantize", "compare", "bench", "auto", "report", "serve")
    return {command: octet(command, "--help").succeeded().stdout for command in commands}


def test_options_exist():
    texts = helps()
    everywhere = "".join(texts.values())
    tools = re.compile(r"--preset|--prefix")  # CMake's and npm's
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", tools.sub("", README))):
        assert option in everywhere, f"README.md names {option}, no command has it"
    for command in ("prepare", "calibrate", "quantize", "bench", "auto", "report", "serve"):
        for row in table_after(f"### How to {command}"):
            for option in re.findall(r"--[a-z][a-z0-9-]+", row[0]):
                assert option in texts[command], option
    for command in re.findall(r"`octet (\w+)[ `]", README):
        assert command in texts, command


def test_options_are_documented():
    documented = set(re.findall(r"--[a-z][a-z0-9-]+", README))
    offered = set(re.findall(r"--[a-z][a-z0-9-]+", "".join(helps().values())))
    # -o, and those whose place is the --help of one command.
    assert offered - documented <= {"--help", "--output", "--threads", "--warmup", "--runs", "--seconds", "--limit"}


def exists(name, names):
    """Whether a path of a document is in the tree, whole or as the end of one; patterns and * count."""
    pattern = re.compile(r"(?:.*/)?" + re.escape(name.rstrip("/")).replace(r"\*", "[^/]*") + "(?:/.*)?")
    return any(pattern.fullmatch(file) for file in names)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_exist(document):
    names = [str(path.relative_to(PROJECT)) for path in files()]
    text = (PROJECT / document).read_text()
    paths = re.findall(r"`((?:[\w.*-]+/)+[\w.*-]*|[\w*-]+\.(?:h|cc|py|md|json|csv|data|onnx))`", text)
    missing = [
        path
        for path in paths
        if not path.startswith("build/") and path not in NOT_IN_THE_TREE and not re.search("[A-Z]{2}", path)
        if not (PROJECT / path).exists() and not exists(path, names)
    ]
    assert not missing, f"{document} names what is not there: {missing}"


def test_the_arithmetic_of_the_guides_model():
    facts = json.loads(octet("inspect", PROJECT / "tests/data/gpt_char.onnx", "--json").succeeded().stdout)["model"]
    assert facts["parameters"] == pytest.approx(210_000, rel=0.02)
    assert round((facts["file_bytes"] - facts["float_bytes"]) / 1e6, 2) == 0.03
    assert round(facts["file_bytes"] / 1e6, 2) == 0.86 and round(facts["float_bytes"] / 1e6, 2) == 0.83
    assert "0.86 MB" in README and "0.83 MB" in README


def tables_of_results():
    """Rows of the tables under Results that begin with the name of a model, table by table."""
    results = README.split("## Results", 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^\| model \|.*\n\|[ |-]+\n((?:\| `\w+` \|.*\n)+)", results, re.MULTILINE)
    return [[[cell.strip(" `") for cell in row.strip("|").split("|")] for row in table.splitlines()] for table in found]


def test_sizes_of_real_models_are_those_of_the_zoo():
    with (PROJECT / "tests/zoo/results.csv").open() as file:
        bytes_out = {(row["model"], row["mode"]): int(row["bytes_out"]) for row in csv.DictReader(file)}
    rows = tables_of_results()[0]
    assert len(rows) >= 8
    for cells in rows:
        for mode, shown in (("dynamic", cells[4]), ("weights", cells[7])):
            assert float(shown) == pytest.approx(bytes_out[cells[0], mode] / 1e6, rel=0.02, abs=0.006), (cells[0], mode)


def test_static_models_are_those_of_the_zoo():
    """The method changes scales, never sizes."""
    with (PROJECT / "tests/golden/static.csv").open() as file:
        wanted = ("mse", "qdq", "per-channel")
        kept = {
            row["model"]: row
            for row in csv.DictReader(file)
            if (row["method"], row["format"], row["granularity"]) == wanted
        }
    rows = tables_of_results()[1]
    assert len(rows) >= 20
    for name, size, *_ in rows:
        shown = float(size.split("→")[1])
        assert shown == pytest.approx(int(kept[name]["bytes"]) / 1e6, rel=0.02, abs=0.006), name


def test_measures_are_those_of_the_comparison():
    with (PROJECT / "tests/golden/static_reference.csv").open() as file:
        kept = {(row["model"], row["granularity"]): row for row in csv.DictReader(file)}
    rows = tables_of_results()[2]
    assert len(rows) >= 8

    def shown(text):
        return f"{float(text):.3f}" if text else "fails"

    for name, _, in_float, *others in rows:
        channel, tensor = kept[name, "per-channel"], kept[name, "per-tensor"]
        assert in_float == shown(channel["float_metric"])
        expected = [row[column] for row in (channel, tensor) for column in ("reference_metric", "octet_default_metric")]
        assert others == [shown(text) for text in expected], name



def test_what_auto_finds_is_what_was_measured():
    rows = read_rows(PROJECT / "tests/golden/auto.csv")
    assert len(rows) >= 20
    assert markdown(rows) in README, "scripts/bench auto --table prints it"
