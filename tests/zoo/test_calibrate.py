"""Calibration of every model of the zoo: it runs, in segments as in one piece, and in memory that samples do not change.

OCTET_ZOO=full (or all) takes the larger parts of the zoo too.
"""

import json

import pytest
from octet_cli import octet
from quantized_zoo import names

MOST_MB = 400  # of ppocr4_rec, whatever the number of samples: the Python tool takes 14 GB for 64
MOST_GROWTH = 1.2  # of memory, from 8 samples to 64


def calibrate(model, samples, output, *options):
    return json.loads(octet("calibrate", model, "--calib", samples, "-o", output, "--json", *options).succeeded().stdout)


@pytest.mark.parametrize("name", names())
def test_segments_observe_what_the_whole_model_shows(name, zoo, tmp_path):
    folder, entries = zoo
    source = entries[name]
    model, samples = folder / source["file"], folder / source.get("calib", source["eval"])
    whole = calibrate(model, samples, tmp_path / "whole.json", "--limit", "2", "--memory-budget", "100000")
    cut = calibrate(model, samples, tmp_path / "cut.json", "--limit", "2", "--memory-budget", "1")
    assert whole["segments"] <= 1
    assert whole["samples"] == cut["samples"] >= 1
    assert (tmp_path / "cut.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    print(f"{cut['segments']} segments, {whole['peak_bytes'] / 1e6:.0f} and {cut['peak_bytes'] / 1e6:.0f} MB")


@pytest.mark.parametrize("options", [(), ("--no-prepare",)], ids=["prepared", "as exported"])
def test_memory_does_not_grow_with_the_samples(options, zoo, tmp_path):
    folder, entries = zoo
    source = entries["ppocr4_rec"]
    files = sorted((folder / source["calib"]).glob("*.npz"))
    peaks = {}
    for count in (8, 64):
        samples = tmp_path / f"{count}"
        samples.mkdir()
        for i in range(count):
            (samples / f"{i:03}.npz").symlink_to(files[i % len(files)])
        report = calibrate(folder / source["file"], samples, tmp_path / f"{count}.json", *options)
        assert report["samples"] == count
        peaks[count] = report["peak_bytes"] / 1e6
    print(peaks)
    assert peaks[64] < MOST_MB
    assert peaks[64] < MOST_GROWTH * peaks[8]
