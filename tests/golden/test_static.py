"""Static quantization over the zoo: the tables hold every model and configuration, and what they say is still so.

make_static.py and make_static_reference.py rewrite them; their difference is what a reviewer reads.
"""

import csv
import statistics

import pytest
import runtime
from fetch_zoo import ensure
from make_static_reference import TABLE as REFERENCE_TABLE
from sources import models
from static_zoo import CONFIGURATIONS, Calibrated, stored_rows

SIZE_TOLERANCE, SQNR_TOLERANCE_DB = 0.005, 1.5  # kernels differ a little between processors
PLAIN_TOLERANCE_DB = 6  # twice the error: integer kernels round in places of their own
UNCHANGED_DB = 100  # the reference found nothing to quantize

# Measured again for every run of the tests: models that take a second each.
AGAIN = [("gpt_char", c) for c in CONFIGURATIONS[::5]] + [("oww_embedding", c) for c in CONFIGURATIONS[2::5]]

SAME_DB = 0.3  # what the last bits of kernels and of calibrated ranges come to


def calibrated_models():
    return [m["name"] for m in models("all") if "calib" in m and not m["name"].startswith("light_")]


def reference_rows():
    with open(REFERENCE_TABLE, newline="") as file:
        return list(csv.DictReader(file))


def test_table_is_complete():
    rows = stored_rows()
    lacking = [(m, *c) for m in calibrated_models() for c in CONFIGURATIONS if (m, *c) not in rows]
    assert not lacking, lacking[:5]


def test_everything_in_it_ran():
    for key, row in stored_rows().items():
        for column in ("sqnr_db", "plain_db", "web_db"):
            assert float(row[column]) > runtime.BROKEN, (key, column)
        assert int(row["integer"]) <= int(row["products"])


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    names = sorted({name for name, _ in AGAIN})
    zoo, entries = ensure("small", names)
    folder = tmp_path_factory.mktemp("static")
    return {entry["name"]: Calibrated(zoo, entry, folder) for entry in entries if entry["name"] in names}


@pytest.mark.parametrize(("name", "configuration"), AGAIN, ids=lambda v: v if isinstance(v, str) else "-".join(v))
def test_table_holds(calibrated, name, configuration):
    row, now = stored_rows()[name, *configuration], calibrated[name].row(*configuration)
    assert int(now["bytes"]) == pytest.approx(int(row["bytes"]), rel=SIZE_TOLERANCE)
    assert float(now["sqnr_db"]) >= float(row["sqnr_db"]) - SQNR_TOLERANCE_DB
    assert (now["integer"], now["products"]) == (int(row["integer"]), int(row["products"]))
    assert abs(float(now["plain_db"]) - float(now["sqnr_db"])) <= PLAIN_TOLERANCE_DB


def test_not_below_the_reference():
    """At equal settings, wherever the reference works and quantizes anything; the default is better still on average."""
    rows = [row for row in reference_rows() if row["reference_db"] and float(row["reference_db"]) <= UNCHANGED_DB]
    assert len(rows) >= 30
    for row in rows:
        assert float(row["octet_db"]) >= float(row["reference_db"]) - SAME_DB, row
    means = [statistics.mean(float(row[c]) for row in rows) for c in ("reference_db", "octet_db", "octet_default_db")]
    assert means == sorted(means)


def test_works_where_the_reference_fails():
    assert all(row["octet_db"] and row["octet_default_db"] for row in reference_rows())
    assert any(row["reference_error"] for row in reference_rows())
