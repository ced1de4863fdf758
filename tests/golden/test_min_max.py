"""On the prepared model and the same samples, the smallest and largest values are those of the reference's calibrator,
bit for bit: neither rounds, and both see what the same operators give."""

import json

import numpy as np
import pytest
from octet_cli import octet

from range_models import MODELS, SAMPLES_OF_MODELS, samples_of


def reference_ranges(model, samples, folder):
    from onnxruntime.quantization.calibrate import CalibrationDataReader, MinMaxCalibrater

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.files = iter(sorted(samples.glob("*.npz"))[:SAMPLES_OF_MODELS])

        def get_next(self):
            file = next(self.files, None)
            return dict(np.load(file)) if file else None

    calibrater = MinMaxCalibrater(str(model), augmented_model_path=str(folder / "augmented.onnx"))
    calibrater.augment_graph()
    calibrater.create_inference_session()
    calibrater.collect_data(Reader())
    found = calibrater.compute_data().items()
    return {name: tuple(float(np.ravel(end)[0]) for end in data.range_value) for name, data in found}


@pytest.mark.parametrize("name", MODELS)
def test_min_max_of_prepared_models(name, tmp_path):
    original, samples = samples_of(name)
    model, ranges = tmp_path / "prepared.onnx", tmp_path / "ranges.json"
    octet("prepare", original, "-o", model).succeeded()
    limit = ["--limit", SAMPLES_OF_MODELS]
    octet("calibrate", model, "--calib", samples, "--no-prepare", "-o", ranges, *limit).succeeded()
    found = {t["tensor"]: (t["min"], t["max"]) for t in json.loads(ranges.read_text())["tensors"]}
    # Octet leaves infinity out and says so; the reference makes it the end of the range.
    wanted = {t: ends for t, ends in reference_ranges(model, samples, tmp_path).items() if np.isfinite(ends).all()}
    compared = found.keys() & wanted.keys()
    assert len(compared) >= 10
    assert {t: found[t] for t in compared} == {t: wanted[t] for t in compared}
