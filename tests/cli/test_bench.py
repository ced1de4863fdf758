"""octet bench: where it was measured, by which thresholds it judges, and what it says of each run."""

import json

import pytest
from octet_cli import PROJECT, octet, quantize

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
    assert report["octet"] == octet("--version").succeeded().stdout.split()[1]
    first, second, *_ = octet("bench", MODEL, *DATA, *BRIEF).succeeded().stdout.splitlines()
    assert first.startswith(f"{environment['cpu']}, {environment['cores']} core")
    assert all(feature in first for feature in environment["features"]) and "governor" in first
    assert second.startswith(f"Octet {report['octet']}, ONNX Runtime {report['runtime']}, 8 samples from ")
    assert second.endswith("; 2 warm-up and 9 timed runs each, interleaved")
