"""What `octet auto` chooses for every model with real samples keeps its promises: auto.csv, which `scripts/bench auto
--write` measured on a quiet machine, against each of them, row by row."""

import csv
import sys

import pytest
from octet_cli import PROJECT

sys.path.append(str(PROJECT / "scripts/benches"))
from auto_table import COLUMNS, number, row_meets_budget
from bench_static import MODELS

TABLE = PROJECT / "tests/golden/auto.csv"
FASTER, AT_LEAST = ("nudenet", "dddd_det", "dddd_ocr", "magika", "oww_embedding", "aecmos", "eeg_seizure"), 1.3
FASTER += ("ppocr4_rec", "ewn_resnet50", "minilm_l6")
LARGER = 1.01  # so much is the same size: names of nodes, alignment


def reference_in_budget(row):
    return bool(row["reference_setting"]) and row_meets_budget(row, "reference")


def as_fast_as_the_reference(row):
    """Both were timed in turns, and these are the ratios of paired runs, with the widest interval of three processes. That
    is stricter than to ask whether the two intervals against float overlap, which hold the noise of the float model too."""
    return not reference_in_budget(row) or number(row, "auto_over_reference_high") >= 1


def not_larger_than_the_reference(row):
    return not reference_in_budget(row) or number(row, "auto_bytes") <= LARGER * number(row, "reference_bytes")


PROMISES = {
    "budget": lambda row: row_meets_budget(row, "auto"),
    "loads natively": lambda row: number(row, "auto_speed") is not None and number(row, "auto_db") is not None,
    "loads in WebAssembly": lambda row: row["auto_loads_wasm"] == "yes",
    "not slower than float": lambda row: number(row, "auto_high") >= 1,
    "much faster": lambda row: row["model"] not in FASTER or number(row, "auto_speed") > AT_LEAST,
    "as fast as the reference": as_fast_as_the_reference,
    "not larger than the reference": not_larger_than_the_reference,
}


@pytest.fixture(scope="module")
def rows():
    with TABLE.open(newline="") as file:
        return {row["model"]: row for row in csv.DictReader(file)}


def test_table_is_complete(rows):
    assert list(rows) == MODELS
    assert all(list(row) == COLUMNS for row in rows.values())
    assert set(FASTER) <= set(rows)
    assert all(row["reference_setting"] or row["reference_why"] for row in rows.values())


def test_something_is_compared(rows):
    assert sum(reference_in_budget(row) for row in rows.values()) >= 8


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("model", MODELS)
def test_promise(rows, model, promise):
    row = rows[model]
    assert PROMISES[promise](row), {name: text for name, text in row.items() if name.startswith(("auto", "reference"))}
