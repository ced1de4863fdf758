"""What the Python reference makes of a model in its four standard ways, kept in the cache folder: it makes the same
again, so each is made once for a model, its samples and the versions of the tool."""

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_kit import PROJECT, external_data, settings

sys.path.insert(0, str(PROJECT / "tests/support"))
from limited import run_limited

SETTINGS = ("dynamic", "per tensor", "per channel", "products alone")
WORKER = PROJECT / "scripts/benches/quantize_reference.py"
MEMORY_BYTES, SECONDS = 10 << 30, 240


@functools.cache
def versions():
    code = "import numpy, onnx, onnxruntime; print(numpy.__version__, onnx.__version__, onnxruntime.__version__)"
    return subprocess.run([settings()["OCTET_PYTHON"], "-c", code], check=True, stdout=subprocess.PIPE).stdout


def kept_in(model, calib):
    """The folder of the cache for what these make."""
    digest = hashlib.sha256(versions())
    for path in (WORKER, model, *external_data(model), *sorted(calib.glob("*.npz"))):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return Path(settings()["OCTET_CACHE"]) / "reference" / model.stem / digest.hexdigest()[:16]


def make(setting, model, calib, target, why):
    """Writes `target`, or into `why` the reason that there is none; a reason of this moment is only given back."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / "made.onnx"
        command = [settings()["OCTET_PYTHON"], WORKER, setting, model, made, calib]
        error = run_limited(command, MEMORY_BYTES, SECONDS).replace(f"{model.parent}/", "").replace(f"{folder}/", "")
        if not error:
            os.replace(made, target)
        elif not error.startswith(("not done", "exit")):
            (Path(folder) / "why").write_text(error)
            os.replace(Path(folder) / "why", why)
    return error


def reference_models(model, calib):
    """By setting the path of the model, or None, and why there is none."""
    folder, found = kept_in(model, calib), {}
    for other in folder.parent.glob("*"):
        if other != folder:
            shutil.rmtree(other)  # of other versions
    for setting in SETTINGS:
        target, why = (folder / f"{setting.replace(' ', '_')}.{ending}" for ending in ("onnx", "why"))
        error = why.read_text() if why.exists() else ""
        if not error and not target.exists():
            error = make(setting, model, calib, target, why)
        found[setting] = (None, error) if error else (target, "")
    return found
