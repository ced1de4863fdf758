"""octet compare --layers against the Python tool's own figures, and what leaving out the worst nodes gives back."""

import json
import logging

import numpy as np
import onnx
import pytest
from octet_cli import EXIT, PROJECT, octet
from onnxruntime.quantization import QuantFormat, QuantType, qdq_loss_debug, quantize_static

MODEL = PROJECT / "tests/data/digits_cnn.onnx"
DATA = PROJECT / "tests/data/digits_cnn/eval"


class Reader:
    def __init__(self):
        self.samples = [dict(np.load(path)) for path in sorted(DATA.glob("*.npz"))]
        self.rest = iter(self.samples)

    def get_next(self):
        return next(self.rest, None)

    def __iter__(self):
        return iter(self.samples)


@pytest.fixture(scope="module")
def static_model(tmp_path_factory):
    logging.disable(logging.WARNING)
    path = tmp_path_factory.mktemp("layers") / "static.onnx"
    quantize_static(
        MODEL,
        path,
        Reader(),
        quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["Conv", "Gemm", "MaxPool", "Relu"],
    )
    return path


@pytest.fixture(scope="module")
def figures(static_model):
    """The tool's: {value: qdq_err, xmodel_err}, {weight: error}."""
    tapped = {}
    for name, path in (("float", MODEL), ("static", static_model)):
        shown = static_model.with_name(f"{name}.shown.onnx")
        qdq_loss_debug.modify_model_output_intermediate_tensors(str(path), str(shown))
        tapped[name] = qdq_loss_debug.collect_activations(str(shown), Reader())
    match = qdq_loss_debug.create_activation_matching(tapped["static"], tapped["float"])
    weights = qdq_loss_debug.create_weight_matching(str(MODEL), str(static_model))
    return qdq_loss_debug.compute_activation_error(match), qdq_loss_debug.compute_weight_error(weights)


@pytest.fixture(scope="module")
def layers(static_model):
    arguments = "compare", MODEL, static_model, "--data", DATA, "--layers", "--json"
    return json.loads(octet(*arguments).succeeded().stdout)["layers"]


# The tool sums in float32, this in float64.
NEAR = {"abs": 0.02}


def test_values_have_the_tools_figures(figures, layers, static_model):
    ours = {entry["value"]: entry for entry in layers["values"]}
    made_by = {output: node.op_type for node in onnx.load(static_model).graph.node for output in node.output}
    absorbed = 0
    assert layers["rounded"] == layers["rounded_matched"] == len(figures[0])
    assert layers["names_of_prepared_model"] is False
    for name, theirs in figures[0].items():
        if ours[name]["op"] == "Relu" and made_by[ours[name]["unrounded"]] != "Relu":
            # Rounding does the Relu's work: the tool counts that as its loss.
            absorbed += 1
            assert ours[name]["qdq_err"]["sqnr_db"] > 30 > theirs["qdq_err"]
        else:
            assert ours[name]["qdq_err"]["sqnr_db"] == pytest.approx(theirs["qdq_err"], **NEAR), name
        assert ours[name]["xmodel_err"]["sqnr_db"] == pytest.approx(theirs["xmodel_err"], **NEAR), name
    assert absorbed > 0


def test_weights_have_the_tools_figures(figures, layers):
    ours = {entry["weight"]: entry["sqnr_db"] for entry in layers["weights"]}
    assert ours == pytest.approx(figures[1], **NEAR)
    assert layers["weights_unmatched"] == 0


def test_the_worst_nodes_are_left_out_one_after_another(tmp_path):
    model, plan = tmp_path / "q.onnx", tmp_path / "plan.json"
    quantize = "quantize", MODEL, "-o", model, "--save-plan", plan, "--no-verify"
    octet(*quantize).succeeded()
    options = "--data", DATA, "--layers", "--plan", plan, "--exclude-worst", "3", "--json"
    report = json.loads(octet("compare", MODEL, model, *options).succeeded().stdout)
    worst = [entry["weight"] for entry in report["layers"]["weights"][:3]]
    read_by = {node["node"]: node["weights"] for node in json.loads(plan.read_text())["nodes"] if "weights" in node}
    size = model.stat().st_size
    for count, exclusion in enumerate(report["exclusions"], 1):
        assert len(exclusion["excluded"]) == count
        assert worst[count - 1] in read_by[exclusion["excluded"][-1]]
        assert exclusion["bytes"] > size
        size = exclusion["bytes"]
        # The same as the command line's own way to leave nodes out.
        left = tmp_path / f"left{count}.onnx"
        octet("quantize", MODEL, "-o", left, "--no-verify", "--nodes-to-exclude", ",".join(exclusion["excluded"]))
        said = json.loads(octet("compare", MODEL, left, "--data", DATA, "--json").succeeded().stdout)
        assert exclusion["worst_sqnr_db"] == pytest.approx(said["worst_sqnr_db"], abs=1e-6)
    assert len(report["exclusions"]) == 3
    assert report["exclusions"][-1]["worst_sqnr_db"] > report["worst_sqnr_db"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--exclude-worst", "2"), "--layers"),
        (("--layers", "--exclude-worst", "2"), "--plan"),
        (("--layers", "--plan", "plan.json"), "--exclude-worst"),
        (("--layers", "--exclude-worst", "2", "--plan", "missing.json"), "missing.json"),
    ],
)
def test_what_does_not_go_together_is_said(options, words):
    result = octet("compare", MODEL, MODEL, "--data", DATA, *options)
    assert result.exit == EXIT["read" if "missing.json" in options else "usage"]
    assert words in result.stderr and result.stderr.count("\n") == 1
