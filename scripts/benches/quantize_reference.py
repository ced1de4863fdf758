"""Quantizes one model with the Python reference, in one of its four standard ways: quantize_reference.py
SETTING SOURCE TARGET CALIB

Statically by way of its own preparation, where that succeeds; with its own defaults otherwise.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/support"))
import runtime
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

PRODUCTS = ["Conv", "ConvTranspose", "MatMul", "Gemm"]
STATIC = {
    "per tensor": {"per_channel": False},
    "per channel": {"per_channel": True},
    "products alone": {"per_channel": True, "op_types_to_quantize": PRODUCTS},
}


class Reader(CalibrationDataReader):
    def __init__(self, folder):
        self.samples = iter(runtime.load_samples(Path(folder)))

    def get_next(self):
        return next(self.samples, None)


def prepared(source, target):
    for symbolic in (True, False):  # without it where it fails
        try:
            quant_pre_process(source, target, skip_symbolic_shape=not symbolic)
            return target
        except Exception:  # its faults have no common type
            continue
    return source


setting, source, target, calib = sys.argv[1:]
if setting == "dynamic":
    quantize_dynamic(source, target, weight_type=QuantType.QInt8)
else:
    quantize_static(
        prepared(source, f"{target}.prepared.onnx"),
        target,
        Reader(calib),
        quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=CalibrationMethod.MinMax,
        **STATIC[setting],
    )
