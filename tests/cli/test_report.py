"""octet report and bench --html: reports of several machines as one page that stands alone."""

import json
import re

import pytest
from octet_cli import EXIT, PROJECT, octet, quantize

MODEL = PROJECT / "tests/data/digits_cnn.onnx"
DATA = "--data", PROJECT / "tests/data/digits_cnn/eval"
BRIEF = "--threads", "1", "--warmup", "1", "--runs", "5", "--no-memory"
PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/126.0.0.0 Mobile Safari/537.36"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the small model, the report of its quantization, and a bench of both."""
    folder = tmp_path_factory.mktemp("report")
    report = quantize(MODEL, folder / "small.onnx", "--mode", "weights", *DATA)
    (folder / "quantize.json").write_text(json.dumps(report))
    page = folder / "bench.html"
    bench = octet("bench", MODEL, folder / "small.onnx", *DATA, *BRIEF, "--profile", "--json", "--html", page)
    (folder / "laptop.json").write_text(bench.succeeded().stdout)
    return folder


def page_report(folder, agent=PHONE):
    """What the page gives to save of such a run (web/src/take/report_json.ts), from the figures of the bench."""
    float_row, small_row = json.loads((folder / "laptop.json").read_text())["rows"]
    report = json.loads((folder / "quantize.json").read_text())
    timed = {
        "threads": 1,
        "reference_ms": [3 * ms for ms in float_row["milliseconds"]],
        "candidate_ms": [2 * ms for ms in small_row["milliseconds"]],
        "baseline": float_row["latency"],
        "candidate": small_row["latency"],
        "speedup": {"ratio": 1.5, "low": 1.4, "high": 1.6},
        "runs_per_block": 1,
    }
    return {
        "input": MODEL.name,
        "output": "digits_cnn.int8.onnx",
        "created": "2026-05-04T03:02:01.000Z",
        "options": {},
        "command_line": "octet quantize …",
        "calibrated": None,
        **{key: report[key] for key in ("model", "passes", "plan", "sizes")},
        "verified": True,
        "comparison": {
            "drift": small_row["drift"],
            "worst_sqnr_db": small_row["worst_sqnr_db"],
            "verdict": small_row["verdict"],
            "latency_by_threads": [timed],
            "load_ms": {"reference": 12.5, "candidate": 9.5},
            "samples": {"description": "8 samples", "count": 8, "synthetic": False},
            "environment": {
                "runtime": "1.30.0",
                "agent": agent,
                "cores": 8,
                "isolated": True,
                "threads_available": 4,
                "clock_ms": 0.005,
            },
        },
        "layers": None,
    }


def merged(folder, *options, agent=PHONE):
    (folder / "phone.json").write_text(json.dumps(page_report(folder, agent)))
    reports = [folder / name for name in ("laptop.json", "phone.json", "quantize.json")]
    return octet("report", *reports, *options)


def stands_alone(page):
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|link|img|iframe|object|embed|base|form)\b", page, re.IGNORECASE)
    assert not re.search(r"\b(src|href|action|srcset|on\w+)\s*=|url\(|@import|https?:|javascript:", page, re.IGNORECASE)
    charts = page.count("<svg")
    assert charts > 0 and page.count("As a table") == charts, "a table under each chart"
    return page


def test_bench_writes_a_page_that_stands_alone(made):
    page = stands_alone((made / "bench.html").read_text())
    laptop = json.loads((made / "laptop.json").read_text())
    for words in (MODEL.name, "small.onnx", laptop["environment"]["cpu"], "ONNX Runtime 1.", "Latency, 1 thread"):
        assert words in page
    assert laptop["rows"][1]["verdict"]["sentence"].replace("'", "&#39;") in page
    assert "Where the time goes" in page and laptop["rows"][0]["profile"]["operators"][0]["op"] in page
    beyond = sum(map(int, re.findall(r"(\d+) beyond →", page)))
    assert page.count('<circle class="dot"') + beyond == 10


def test_reports_of_a_machine_and_a_browser_are_one_comparison(made, tmp_path):
    said = merged(made, "-o", tmp_path / "both.html", "--json", tmp_path / "both.json").succeeded().stdout
    page = stands_alone((tmp_path / "both.html").read_text())
    assert said.startswith("3 reports → ") and "phone.json: Chrome 126 on Android, 8 cores; onnxruntime-web 1.30.0" in said
    assert "Chrome 126 on Android, 8 cores; onnxruntime-web 1.30.0" in page
    both = json.loads((tmp_path / "both.json").read_text())
    assert both["octet_report"] == "comparison"
    assert [report["browser"] for report in both["reports"]] == [False, True, False]
    names = [row["name"] for row in both["models"]]
    assert names == [MODEL.name, "small.onnx, also digits_cnn.int8.onnx"], "files of as many bytes are the same model"
    assert [cell["report"] for cell in both["models"][1]["cells"]] == [0, 1, 2]
    assert both["models"][1]["cells"][1]["speedup"] == {"ratio": 1.5, "low": 1.4, "high": 1.6}
    differs = {entry["report"]: entry["differs"] for entry in both["across"]}
    assert "a browser against a native run" in differs[1] and "same runtime, in another run" in differs[2]
    assert "These ratios compare machines, runtimes or moments, not models" in page
    for words in differs.values():
        assert words in page


def test_nothing_is_replaced_without_force(made, tmp_path):
    output, merged_json = tmp_path / "r.html", tmp_path / "r.json"
    output.write_text("mine")
    refused = merged(made, "-o", output)
    assert refused.exit == EXIT["write"] and "exists already" in refused.stderr and output.read_text() == "mine"
    merged_json.write_text("mine too")
    refused = merged(made, "-o", tmp_path / "new.html", "--json", merged_json)
    assert refused.exit == EXIT["write"] and merged_json.read_text() == "mine too"
    assert not (tmp_path / "new.html").exists()
    merged(made, "-o", output, "--json", merged_json, "--force").succeeded()
    assert output.read_text().startswith("<!doctype html>") and json.loads(merged_json.read_text())
    before = (made / "laptop.json").read_text()
    refused = octet("report", made / "laptop.json", "-o", made / "laptop.json", "--force")
    assert refused.exit == EXIT["usage"] and (made / "laptop.json").read_text() == before
    refused = octet("bench", MODEL, *DATA, *BRIEF, "--html", output)
    assert refused.exit == EXIT["write"] and "exists already" in refused.stderr
    refused = octet("bench", MODEL, *DATA, *BRIEF, "--html", MODEL, "--force")
    assert refused.exit == EXIT["usage"] and MODEL.stat().st_size > 80_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json"]


def test_names_of_models_stay_text(made, tmp_path):
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>.onnx'
    (tmp_path / evil.replace("/", "_")).write_bytes(MODEL.read_bytes())
    model = tmp_path / evil.replace("/", "_")
    octet("bench", model, *DATA, *BRIEF, "--html", tmp_path / "b.html").succeeded()
    agent = '"><script src="http://elsewhere/x.js"></script>'
    merged(made, "-o", tmp_path / "r.html", agent=agent).succeeded()
    for name in ("b.html", "r.html"):
        page = (tmp_path / name).read_text()
        assert "&lt;script" in page and "<script" not in page and "<img" not in page


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[]", "{}", '{"rows": []}', '{"octet_report": "bench", "rows": [{}]}', "[" * 100_000, "\xff"]
)
def test_what_is_no_report_is_named(made, tmp_path, text):
    odd = tmp_path / "odd.json"
    odd.write_bytes(text.encode("latin1"))
    refused = octet("report", made / "laptop.json", odd, "-o", tmp_path / "r.html")
    assert refused.exit == EXIT["malformed"] and "odd.json" in refused.stderr
    assert "octet bench --json" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["odd.json"]


def test_a_report_that_is_not_there_is_named(tmp_path):
    refused = octet("report", tmp_path / "none.json", "-o", tmp_path / "r.html")
    assert refused.exit == EXIT["read"] and "none.json" in refused.stderr and not any(tmp_path.iterdir())
