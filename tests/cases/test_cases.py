"""Small models made from public reports of what breaks quantizers, judged on the output file and in ONNX Runtime."""

import time

import numpy as np
import onnx
import onnx_facts
import pytest
import runtime
from case_kit import CASES
from octet_cli import octet

import element_type_cases  # noqa: F401  (these register their cases)
import naming_cases
import operator_cases
import promise_cases
import version_cases
import weight_place_cases

CONSISTENT_DB = 20  # optimized and plain runs may round activations differently, never more than this


@pytest.mark.parametrize("number", sorted(CASES), ids=lambda number: f"{number}_{CASES[number].build.__name__}")
def test_case(number, tmp_path):
    case = CASES[number]
    built, source, output = case.build(), tmp_path / "model" / "model.onnx", tmp_path / "out" / "quantized.onnx"
    output.parent.mkdir()
    write(built, source)
    result = octet("quantize", source, "-o", output, "--data", source.parent / "samples", *case.options, cwd=tmp_path)
    assert result.exit >= 0, f"killed by signal {-result.exit}: {result.said[-1000:]}"
    expect = case.expect
    refused = expect.may_refuse and result.exit > 0 and expect.may_refuse in result.said
    if expect.fails or refused:
        assert result.exit > 0, f"no error: {result.said[-1000:]}"
        for name in expect.fails:
            assert name in result.stderr
        assert not list(output.parent.iterdir())
        return
    result.succeeded()
    judge_file(expect, source, output, result.said)
    if expect.runs:
        judge_runs(expect, built.samples, source, output)


def write(built, path):
    (path.parent / "samples").mkdir(parents=True)
    if built.checked:
        onnx.checker.check_model(built.model)
    for location, names in built.external.items():
        move_outside(built.model, path.parent / location, names)
    path.write_bytes(built.model.SerializeToString())
    for location in built.lost:
        (path.parent / location).unlink()
    for i, feeds in enumerate(built.samples):
        np.savez_compressed(path.parent / "samples" / f"{i:02d}.npz", **feeds)


def move_outside(model, path, names, gap=4096):
    """Puts tensors into an external file by hand, each at a multiple of `gap` as mapped files need."""
    with open(path, "wb") as file:
        for tensor in (t for t in model.graph.initializer if t.name in names):
            offset = -(-file.tell() // gap) * gap + gap
            file.seek(offset)
            file.write(tensor.raw_data)
            for key, value in (("location", path.name), ("offset", offset), ("length", len(tensor.raw_data))):
                tensor.external_data.add(key=key, value=str(value))
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL


def judge_file(expect, source, output, said):
    model = onnx.load(output)
    floats = onnx_facts.float_elements(model)
    assert floats >= expect.least_floats
    if expect.most_floats is not None and not (expect.excused_by and expect.excused_by in said.lower()):
        assert floats <= expect.most_floats, onnx_facts.float_bytes_by_name(model)
    if expect.most_size is not None:
        ratio = onnx_facts.file_bytes(output) / onnx_facts.file_bytes(source)
        assert ratio <= expect.most_size
    assert onnx_facts.integer_nodes(model) >= expect.integer_nodes
    assert expect.says in said


def judge_runs(expect, samples, source, output):
    reference = runtime.run_all(source, samples, optimized=False)
    plain, optimized = (runtime.run_all(output, samples, optimized=level) for level in (False, True))
    got, same = runtime.sqnr_by_output(reference, optimized), runtime.sqnr_by_output(plain, optimized)
    print("SQNR", got, "optimized against plain", same)
    for (name, decibels), least in zip(got.items(), expect.sqnr):
        assert least is None or decibels >= least, name
    assert min(same.values()) >= CONSISTENT_DB
    for sample, other in zip(reference, optimized):
        for name, array in sample.items():
            assert array.dtype == other[name].dtype
            assert array.dtype.kind == "f" or np.array_equal(array, other[name]), name
    if expect.most_latency is not None:
        # A noisy machine can only make a ratio of best times look worse than it is now and then: three tries.
        ratios = []
        for _ in range(3):
            ratios.append(latency_ratio(source, output, samples[0]))
            if ratios[-1] <= expect.most_latency:
                break
        assert min(ratios) <= expect.most_latency, ratios


def latency_ratio(source, output, feeds, warm=10, runs=60):
    sessions = [runtime.session(path) for path in (source, output)]
    best = [float("inf")] * 2
    for i in range(warm + runs):
        for k, session in enumerate(sessions):
            started = time.perf_counter()
            session.run(None, feeds)
            if i >= warm:
                best[k] = min(best[k], time.perf_counter() - started)
    return best[1] / best[0]
