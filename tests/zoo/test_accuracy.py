"""What makes static models lose less: each step helps on a real model, and what does not help is not used."""

import re

import pytest
from octet_cli import quantize
from quantized_zoo import TARGET, names
from sources import sha256

# The least that a step brings here, in dB of the worst output, below what was measured (README).
HELPS = {
    ("minilm_l6", "--smooth-quant", "0.5"): 1.5,
    ("oww_embedding", "--bias-correction", "--method", "best"): 2.5,
    ("eeg_seizure", "--bias-correction", "--method", "best"): 2,
    ("ppocr4_det", "--equalize", "--method", "best"): 1,
}
# Too much of the spread goes into the weights: measured to lose 4 dB. Means that are right, and an output 1 dB worse.
# Weights that were even enough, and activations that are not so any more.
HURTS = {("aecmos", "--equalize", "--method", "best"), ("minilm_l6", "--smooth-quant", "0.8"), ("dddd_ocr", "--bias-correction", "--method", "best")}


def cases(table):
    return [pytest.param(case, id=" ".join(case)) for case in sorted(table) if case[0] in names()]


def static(zoo, name, output, *options):
    folder, entries = zoo
    source = entries[name]
    if "--method" not in options:
        options = ("--method", "minmax", *options)
    data = ["--calib", folder / source["calib"], "--data", folder / source["eval"]]
    return quantize(folder / source["file"], output, "--target", TARGET, "--min-sqnr", "0", *data, *options)


def others(options):
    """What is asked besides the step."""
    return options[options.index("--method") :] if "--method" in options else []


def measured(report, option):
    """Before, after and what became of it, as the note says."""
    step = option.lstrip("-").replace("-", "[- ]")
    for note in report["plan"]["notes"]:
        if found := re.match(rf"{step}.*: (-?[\d.]+) dB → (-?[\d.]+) dB, (kept|not used)", note):
            return float(found[1]), float(found[2]), found[3]
    raise AssertionError(report["plan"]["notes"])


@pytest.mark.parametrize("case", cases(HELPS))
def test_helps(case, zoo, tmp_path):
    name, *options = case
    report = static(zoo, name, tmp_path / "with.onnx", *options)
    before, after, what = measured(report, options[0])
    assert what == "kept"
    assert after > before + HELPS[case]
    plain = static(zoo, name, tmp_path / "plain.onnx", *others(options))
    assert report["verify"]["worst_sqnr_db"] > plain["verify"]["worst_sqnr_db"] + HELPS[case] / 2


@pytest.mark.parametrize("case", cases(HURTS))
def test_what_hurts_is_not_used(case, zoo, tmp_path):
    name, *options = case
    report = static(zoo, name, tmp_path / "with.onnx", *options)
    before, after, what = measured(report, options[0])
    assert what == "not used"
    assert after < before
    static(zoo, name, tmp_path / "plain.onnx", *others(options))
    assert sha256(tmp_path / "with.onnx") == sha256(tmp_path / "plain.onnx")
