"""Registry of sample makers: one per model (or family), found by the model's name.

A maker takes the zoo (see fetch_zoo.py) and the model's name, and gives SAMPLES pairs of feeds (arrays by input name)
and label (None where the truth is unknown). The first CALIBRATION of them are for calibration, the rest for evaluation.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before the runtime is loaded: it reports home else
import onnxruntime

CALIBRATION, EVALUATION = 24, 16
SAMPLES = CALIBRATION + EVALUATION

MAKERS = {}


def feeds_for(*names):
    def register(maker):
        MAKERS.update(dict.fromkeys(names, maker))
        return maker

    return register


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 2
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
