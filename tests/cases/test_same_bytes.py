"""Every case in every mode: the command line, Node and Chromium write the same bytes, or refuse in the same words."""

import pytest
from case_kit import CASES
from octet_cli import octet
from test_cases import write

MODES = ("dynamic", "weights", "static")


@pytest.mark.parametrize("number", sorted(CASES), ids=lambda number: f"{number}_{CASES[number].build.__name__}")
def test_same_bytes(number, places, tmp_path):
    case = CASES[number]
    model, ranges = tmp_path / "model" / "model.onnx", tmp_path / "ranges.json"
    write(case.build(), model)
    agreed = 0
    for mode in MODES:
        given = None
        if mode == "static":
            learned = octet("calibrate", model, "--calib", model.parent / "samples", "-o", ranges)
            if learned.exit != 0:
                # Nothing to calibrate where nothing runs or loads.
                assert case.expect.fails or case.expect.may_refuse or not case.expect.runs, learned.stderr
                continue
            given = ranges
        agreed += places.agree(model, tmp_path, {"mode": mode}, given).exit == 0
    assert agreed or case.expect.fails or case.expect.may_refuse
