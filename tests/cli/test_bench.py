"""octet bench: where it was measured, by which thresholds it judges, and what it says of each run."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest
from octet_cli import EXIT, PROJECT, octet, quantize
from onnx import TensorProto, helper, numpy_helper

MODEL = PROJECT / "tests/data/digits_cnn.onnx"
DATA = "--data", PROJECT / "tests/data/digits_cnn/eval"
BRIEF = "--threads", "1", "--warmup", "2", "--runs", "9"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    output = tmp_path_factory.mktemp("bench") / "small.onnx"
    quantize(MODEL, output, "--mode", "weights", *DATA)
    return output


def bench(*models_and_options):
    return json.loads(octet("bench", *models_and_options, *DATA, *BRIEF, "--json").succeeded().stdout)


def test_the_machine_and_the_setup_are_told():
    report = bench(MODEL)
    environment = report["environment"]
    assert environment["cpu"] and environment["cores"] >= 1
    assert environment.keys() == {"cpu", "cores", "features", "governor", "load"}
    assert (report["warmup"], report["runs"], report["samples"]) == (2, 9, 8)
    assert report["octet_report"] == "bench"
    assert report["octet"] == octet("--version").succeeded().stdout.split()[1]
    written = datetime.strptime(report["created"], "%Y-%m-%dT%H:%M:%S%z")
    assert 0 <= (datetime.now(UTC) - written).total_seconds() < 600
    assert report["rows"][0]["name"] == "digits_cnn.onnx"
    first, second, *_ = octet("bench", MODEL, *DATA, *BRIEF).succeeded().stdout.splitlines()
    assert first.startswith(f"{environment['cpu']}, {environment['cores']} core")
    assert all(feature in first for feature in environment["features"]) and "governor" in first
    assert second.startswith(f"Octet {report['octet']}, ONNX Runtime {report['runtime']}, 8 samples from ")
    assert second.endswith("; 2 warm-up and 9 timed runs each, interleaved")


def test_rows_have_the_verdict_and_what_it_goes_by(small):
    report = bench(MODEL, small)
    assert report["thresholds"] == {"min_sqnr_db": 10, "min_smaller": 1.1, "slower": 0.95, "faster": 1.05}
    first, second = report["rows"]
    assert "verdict" not in first
    assert second["verdict"].keys() == {"judgement", "decided_by", "sentence", "why", "next"}
    assert "× smaller" in second["verdict"]["sentence"]
    assert 0 <= second["outliers"] < len(second["milliseconds"]) == second["latency"]["runs"] == 9
    lines = octet("bench", MODEL, small, *DATA, *BRIEF).succeeded().stdout.splitlines()
    assert any(line.startswith(f"{small.name}, 1 thread: ") for line in lines)
    assert sum(" of 9 " in line for line in lines) == 2
    assert any("outliers: runs beyond the median and 5 spreads, left in" in line for line in lines)


def test_thresholds_decide_in_bench_and_in_quantize(small, tmp_path):
    drifted = bench(MODEL, small, "--min-sqnr", "199")["rows"][1]["verdict"]
    assert (drifted["judgement"], drifted["decided_by"]) == ("dont", "drift")
    assert "Outputs drifted below 199 dB" in drifted["sentence"]
    options = "--min-smaller", "50", "--faster", "1000"
    too_large = bench(MODEL, small, *options)["rows"][1]["verdict"]
    report = quantize(MODEL, tmp_path / "again.onnx", "--mode", "weights", *DATA, *options)
    for verdict in (too_large, report["verdict"]):
        assert (verdict["judgement"], verdict["decided_by"]) == ("dont", "size")
        assert verdict["sentence"].startswith("Don't bother")
    assert report["thresholds"] == {"min_sqnr_db": 10, "min_smaller": 50, "slower": 0.95, "faster": 1000}


def test_a_verdict_that_is_no_ship_says_why_and_what_to_try(small):
    """The way the model was made is read off the model."""
    verdict = bench(MODEL, small, "--min-sqnr", "199")["rows"][1]["verdict"]
    assert "Rounding lost too much" in verdict["why"]
    assert [advice["code"] for advice in verdict["next"]] == ["train"] and verdict["next"][0]["text"]
    said = octet("bench", MODEL, small, *DATA, *BRIEF, "--min-sqnr", "199").succeeded().stdout.splitlines()
    assert f"why: {verdict['why']}" in said and f"try: {verdict['next'][0]['text']}" in said


def test_of_a_model_that_is_not_quantized_no_reason_is_made_up():
    verdict = bench(MODEL, MODEL, "--faster", "1000")["rows"][1]["verdict"]
    assert (verdict["judgement"], verdict["why"], verdict["next"]) == ("dont", "", [])


def test_profile_tells_the_time_per_operator_and_what_ran_in_integers(tmp_path):
    static = tmp_path / "static.onnx"
    quantize(MODEL, static, "--calib", PROJECT / "tests/data/digits_cnn/calib", *DATA)
    first, second = bench(MODEL, static, "--profile")["rows"]
    for row, integer_op in ((first, None), (second, "QLinearConv")):
        profile = row["profile"]
        assert profile.keys() == {"runs", "run_ms", "integer_share", "operators", "nodes"}
        assert sum(entry["share"] for entry in profile["operators"]) == pytest.approx(1)
        times = [entry["ms"] for entry in profile["operators"]]
        assert times == sorted(times, reverse=True) and 0 < sum(times) <= profile["run_ms"]
        assert all(node.keys() == {"name", "op", "ms"} for node in profile["nodes"]) and profile["nodes"]
        in_integers = {entry["op"] for entry in profile["operators"] if entry["integers"]}
        assert integer_op in in_integers if integer_op else not in_integers
        assert (profile["integer_share"] > 0) == bool(integer_op)
        assert len(row["milliseconds"]) == 9, "watched runs are not counted among the timed ones"
    assert "profile" not in bench(MODEL)["rows"][0]
    said = octet("bench", MODEL, static, *DATA, *BRIEF, "--profile").succeeded().stdout
    assert said.count("of the time in integers") == 2 and "digits_cnn.onnx, 1 thread: 0 % of the time" in said
    assert "QLinearConv" in said and "longest nodes: " in said


def test_what_counts_as_faster_is_an_option(small):
    sentence = bench(MODEL, small, "--faster", "1000", "--slower", "0.0001")["rows"][1]["verdict"]["sentence"]
    assert "as fast as before" in sentence or "lost in noise" in sentence


@pytest.mark.parametrize("command", ["bench", "quantize"])
@pytest.mark.parametrize(
    ("option", "value"),
    [("--slower", "1.2"), ("--slower", "0"), ("--faster", "0.9"), ("--min-smaller", "-1"), ("--min-sqnr", "nan")],
)
def test_thresholds_that_mean_nothing_are_refused(tmp_path, command, option, value):
    output = ("-o", tmp_path / "out.onnx") if command == "quantize" else ()
    refused = octet(command, MODEL, *output, option, value)
    assert refused.exit == EXIT["usage"] and option in refused.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--slower", "--faster"])
def test_speed_is_not_judged_without_a_run(tmp_path, option):
    refused = octet("quantize", MODEL, "-o", tmp_path / "out.onnx", "--no-verify", option, "1")
    assert refused.exit == EXIT["usage"] and f"--no-verify {option}" in refused.stderr


def test_memory_is_that_of_one_model(tmp_path):
    """Of two models with 48 MB of weights and none beside each other: the one takes them, the other does not."""
    side = 3464
    weights = numpy_helper.from_array(np.ones([side, side], np.float32), "w")
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, side])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, side])
    for name, node, initializers in (
        ("large", helper.make_node("MatMul", ["x", "w"], ["y"]), [weights]),
        ("none", helper.make_node("Relu", ["x"], ["y"]), []),
    ):
        graph = helper.make_graph([node], name, [x], [y], initializers)
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        (tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    arguments = "bench", tmp_path / "large.onnx", tmp_path / "none.onnx", *BRIEF
    rows = json.loads(octet(*arguments, "--json").succeeded().stdout)["rows"]
    large, none = (row["peak_memory_bytes"] for row in rows)
    assert 40e6 < large - none < 250e6
    said = octet(*arguments).succeeded().stdout
    assert "memory" in said.splitlines()[2].split() and "memory: peak of a process" in said
    rows = json.loads(octet(*arguments, "--no-memory", "--json").succeeded().stdout)["rows"]
    assert not any(key.startswith("peak_memory") for row in rows for key in row)
    assert "memory: peak" not in octet(*arguments, "--no-memory").succeeded().stdout


def test_a_model_without_an_engine_for_it_is_a_row(tmp_path):
    node = helper.make_node("NoSuchThing", ["x"], ["y"], domain="nowhere")
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([node], "odd", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("nowhere", 1)]
    (tmp_path / "odd.onnx").write_bytes(
        helper.make_model(graph, ir_version=8, opset_imports=opsets).SerializeToString()
    )
    first, second = bench(MODEL, tmp_path / "odd.onnx")["rows"]
    assert "error" not in first and "does not load" in second["error"]
    said = octet("bench", MODEL, tmp_path / "odd.onnx", *DATA, *BRIEF).succeeded().stdout
    assert said.count("does not load") == 1
