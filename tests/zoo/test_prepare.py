"""Every model of the zoo, prepared: it computes the same, is no larger, has no more nodes, and can be quantized.

OCTET_ZOO=full (or all) takes the larger parts of the zoo too.
"""

import json
from functools import cached_property

import onnx
import onnx_facts
import pytest
import runtime
from fetch_zoo import ensure
from octet_cli import octet
from quantized_zoo import names, tier

SAMPLES = 4
MOST_DIFFERENCE = 1e-4  # of the largest value: float sums taken in another order stay below, a changed computation not
MOST_SIZE = 1.01  # of the original, external data included


class Prepared:
    def __init__(self, zoo, source, folder):
        self.name, self.source = source["name"], zoo / source["file"]
        self.path, self.samples_folder = folder / f"{self.name}.onnx", zoo / source["eval"]

    @cached_property
    def report(self):
        return json.loads(prepare(self.source, self.path).stdout)

    @cached_property
    def samples(self):
        return runtime.load_samples(self.samples_folder)[:SAMPLES]


def prepare(source, output):
    return octet("prepare", source, "-o", output, "--no-verify", "--json").succeeded()


@pytest.fixture(scope="module", params=names())
def prepared(request, tmp_path_factory):
    folder, entries = ensure(tier())
    source = next(entry for entry in entries if entry["name"] == request.param)
    made = Prepared(folder, source, tmp_path_factory.mktemp(source["name"]))
    assert made.report
    yield made
    for path in made.path.parent.iterdir():
        path.unlink()


@pytest.mark.parametrize("optimized", [False, True], ids=["plain", "optimized"])
def test_computes_the_same(prepared, optimized):
    expected = runtime.run_all(prepared.source, prepared.samples, optimized)
    difference = runtime.largest_difference(expected, runtime.run_all(prepared.path, prepared.samples, optimized))
    print(f"max|a - b| / max|b| = {difference:.1e}")
    assert difference <= MOST_DIFFERENCE


def test_has_the_same_inputs_and_outputs(prepared):
    """As the file declares them; without weights, which IR 3 lists as inputs, and with true ranks of the outputs."""
    before, after = (onnx.load(path, load_external_data=False).graph for path in (prepared.source, prepared.path))
    stored = {tensor.name for tensor in before.initializer}
    assert list(after.input) == [v for v in before.input if v.name not in stored]
    corrected = next(p for p in prepared.report["passes"] if p["pass"] == "correct_declarations")["changes"]
    differ = [(old, new) for old, new in zip(before.output, after.output, strict=True) if old != new]
    assert len(differ) <= corrected
    for old, new in differ:
        assert (old.name, old.type.tensor_type.elem_type) == (new.name, new.type.tensor_type.elem_type)
        array = runtime.run_all(prepared.source, prepared.samples[:1], False)[0][old.name]
        assert array.ndim == len(new.type.tensor_type.shape.dim)


def test_is_no_larger(prepared):
    before, after = (onnx_facts.file_bytes(path) for path in (prepared.source, prepared.path))
    assert after <= MOST_SIZE * before
    old, new = (
        len(onnx_facts.nodes(onnx.load(path, load_external_data=False))) for path in (prepared.source, prepared.path)
    )
    print(f"{before} -> {after} bytes, {old} -> {new} nodes")
    assert new <= old
    assert prepared.report["nodes"] == {"before": old, "after": new}
    assert prepared.report["bytes"] == {"before": before, "after": after}


def test_is_a_valid_model(prepared):
    onnx.checker.check_model(prepared.path)


def test_has_nothing_left_to_do(prepared):
    again = prepared.path.with_name("again.onnx")
    prepare(prepared.path, again)
    assert again.read_bytes() == prepared.path.read_bytes()


def test_can_be_quantized(prepared):
    output = prepared.path.with_name("quantized.onnx")
    octet("quantize", prepared.path, "-o", output, "--mode", "weights", "--no-verify").succeeded()
    runtime.session(output)
