"""octet auto on real models and the real engine: what it chooses holds what was asked, and stopping it loses nothing."""

import json
import signal
import subprocess
import time

import pytest
from octet_cli import BINARY, EXIT, PROJECT, octet

DATA = PROJECT / "tests/data"
DIGITS = DATA / "digits_cnn.onnx"
DIGITS_SAMPLES = "--calib", DATA / "digits_cnn/calib", "--eval", DATA / "digits_cnn/eval"
GPT = DATA / "gpt_char.onnx"
GPT_SAMPLES = "--calib", DATA / "gpt_char/calib", "--eval", DATA / "gpt_char/eval"
BRIEF = "--time-limit", "20"


def search(model, output, *options):
    return json.loads(octet("auto", model, "-o", output, "--json", *options).succeeded().stdout)


def chosen_of(report):
    (chosen,) = [candidate for candidate in report["candidates"] if candidate["chosen"]]
    assert report["chosen"] == chosen["what"]
    return chosen


@pytest.mark.parametrize(("model", "samples"), [(DIGITS, DIGITS_SAMPLES), (GPT, GPT_SAMPLES)], ids=["digits", "gpt"])
def test_the_chosen_model_keeps_the_budget(model, samples, tmp_path):
    output, plan = tmp_path / "out.onnx", tmp_path / "plan.json"
    report = search(model, output, *samples, *BRIEF, "--save-plan", plan)
    chosen = chosen_of(report)
    assert chosen["runs"] and chosen["sqnr_db"] >= 25 and chosen["front"]
    low, high = chosen["sqnr_interval_db"]
    assert low <= chosen["sqnr_db"] <= high
    assert chosen["speedup"]["high"] > 0.9
    assert report["verify"]["verified"] and report["verify"]["loads"] and report["verify"]["worst_sqnr_db"] >= 25
    assert output.stat().st_size == report["output_bytes"] == chosen["bytes"] < report["input_bytes"] / 2
    assert report["account"][0].startswith(f"chosen: {chosen['what']}: ")
    names = [candidate["what"] for candidate in report["candidates"]]
    assert {"static", "dynamic", "weights only", "float, prepared"} <= {*names, "dynamic"}
    # The plan alone makes the same bytes.
    again = tmp_path / "again.onnx"
    octet("quantize", model, "-o", again, "--plan", plan, "--no-verify").succeeded()
    assert again.read_bytes() == output.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.onnx", "out.onnx", "plan.json"]


def test_a_budget_of_right_answers(tmp_path):
    report = search(GPT, tmp_path / "out.onnx", *GPT_SAMPLES, *BRIEF, "--max-drop", "1")
    chosen = chosen_of(report)
    assert report["budget"]["max_drop_percent"] == 1
    assert chosen["drop_percent"] <= 1
    strict = search(GPT, tmp_path / "strict.onnx", *GPT_SAMPLES, *BRIEF, "--min-sqnr", "150")
    assert "float" in strict["chosen"] or "weights" in strict["chosen"]
    assert any("150.0 dB" in line for line in strict["account"])


def test_a_higher_floor_moves_nodes_out_of_integers(tmp_path):
    report = search(GPT, tmp_path / "out.onnx", *GPT_SAMPLES, "--min-sqnr", "36")
    assert chosen_of(report)["sqnr_db"] >= 36
    sensitivity = report["sensitivity"]
    assert sensitivity and sensitivity == sorted(sensitivity, key=lambda one: one["alone_db"])
    assert any("without_db" in one for one in sensitivity)


def test_what_is_out_of_reach_is_said_and_nothing_written(tmp_path):
    output = tmp_path / "out.onnx"
    small = octet("auto", DIGITS, "-o", output, *DIGITS_SAMPLES, *BRIEF, "--max-mb", "0.0001")
    assert small.exit == EXIT["quality"]
    assert "the smallest within 25.0 dB is" in small.stderr
    fast = octet("auto", DIGITS, "-o", output, *DIGITS_SAMPLES, *BRIEF, "--min-speedup", "1000")
    assert fast.exit == EXIT["quality"]
    assert "the fastest within 25.0 dB is" in fast.stderr
    assert not list(tmp_path.iterdir())


def test_the_log_spares_measuring_again(tmp_path):
    log = tmp_path / "log.json"
    first = search(DIGITS, tmp_path / "a.onnx", *DIGITS_SAMPLES, *BRIEF, "--log", log)
    written = json.loads(log.read_text())
    assert len(written["measurements"]) == first["measurements"] > 3
    second = search(DIGITS, tmp_path / "b.onnx", *DIGITS_SAMPLES, *BRIEF, "--log", log)
    assert json.loads(log.read_text()) == written
    assert second["candidates"] == first["candidates"] and second["account"] == first["account"]
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    # A log that ends in the middle is gone on with.
    kept = dict(list(written["measurements"].items())[:2])
    log.write_text(json.dumps(written | {"measurements": kept}))
    search(DIGITS, tmp_path / "c.onnx", *DIGITS_SAMPLES, *BRIEF, "--log", log)
    after = json.loads(log.read_text())["measurements"]
    assert kept.items() <= after.items() and len(after) > len(kept)
    others = octet("auto", DIGITS, "-o", tmp_path / "d.onnx", *DIGITS_SAMPLES, "--limit", "3", "--log", log)
    assert others.exit == EXIT["usage"]
    assert "of other samples or settings" in others.stderr and str(log) in others.stderr
    log.write_text("{}")
    broken = octet("auto", DIGITS, "-o", tmp_path / "d.onnx", *DIGITS_SAMPLES, "--log", log)
    assert broken.exit == EXIT["malformed"]
    assert not (tmp_path / "d.onnx").exists()


def test_ctrl_c_gives_the_best_so_far(tmp_path):
    output, log = tmp_path / "out.onnx", tmp_path / "log.json"
    # More time than a sanitized program needs on a busy machine: what is told here is how it was stopped.
    asked = (*GPT_SAMPLES, "--min-sqnr", "36", "--time-limit", "1000", "--log", log)
    command = [BINARY, "auto", GPT, "-o", output, *asked, "--json"]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        while run.poll() is None and not log.exists():
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        said, complaints = run.communicate(timeout=120)
    assert run.returncode == 0, complaints
    report = json.loads(said)
    assert report["ended_early"] == "it was stopped"
    assert output.exists() and chosen_of(report)["runs"]
    resumed = search(GPT, tmp_path / "resumed.onnx", *asked)
    assert resumed["ended_early"] is None and resumed["measurements"] > report["measurements"]
    assert {path.name for path in tmp_path.iterdir()} == {"out.onnx", "log.json", "resumed.onnx"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--calib"),
        ((*DIGITS_SAMPLES, "--min-sqnr", "20", "--max-drop", "1"), "drift has one budget"),
        ((*DIGITS_SAMPLES, "--max-drop", "101"), "from 0 to 100"),
        ((*DIGITS_SAMPLES, "--max-mb", "0"), "above 0"),
        ((*DIGITS_SAMPLES, "--time-limit", "0"), "above 0"),
        ((*DIGITS_SAMPLES, "--min-speedup", "nan"), "above 0"),
    ],
)
def test_options_that_make_no_sense(options, words, tmp_path):
    run = octet("auto", DIGITS, "-o", tmp_path / "out.onnx", *options)
    assert run.exit == EXIT["usage"] and words in run.stderr
    assert not list(tmp_path.iterdir())


def test_labels_that_do_not_fit_and_outputs_that_exist(tmp_path):
    labels = tmp_path / "labels.json"
    labels.write_text("[1, 2]")
    output = tmp_path / "out.onnx"
    unfit = octet("auto", GPT, "-o", output, *GPT_SAMPLES, "--labels", labels, "--max-drop", "1")
    assert unfit.exit == EXIT["data"] and "labels" in unfit.stderr
    output.write_bytes(b"mine")
    assert octet("auto", DIGITS, "-o", output, *DIGITS_SAMPLES).exit == EXIT["write"]
    assert output.read_bytes() == b"mine"
