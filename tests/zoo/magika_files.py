"""Samples for the file-type detector: both ends of real files, found among the packages and in Python itself."""

import json
import os
from pathlib import Path

import numpy as np

from inputs import SAMPLES
from sources import models

KINDS = {
    ".py": "python",
    ".png": "png",
    ".jpg": "jpeg",
    ".json": "json",
    ".ttf": "ttf",
    ".so": "elf",
    ".whl": "zip",
    ".gz": "gzip",
    ".html": "html",
    ".css": "css",
    ".js": "javascript",
    ".h": "c",
    ".c": "c",
    ".svg": "svg",
    ".pdf": "pdf",
    ".csv": "csv",
    ".npz": "npz",
    ".npy": "npy",
    ".sh": "shell",
    ".pyc": "pythonbytecode",
    ".toml": "toml",
    ".rst": "rst",
    ".afm": "txt",
    ".tif": "tiff",
    ".onnx": "onnx",
    ".yaml": "yaml",
    ".xml": "xml",
    ".md": "markdown",
    ".bat": "batch",
    ".ini": "ini",
}
PER_KIND, BLOCK, WINDOW, PADDING = 6, 4096, 1024, 256


def file_samples(zoo, _name):
    config = zoo.packages.folder("magika") / "magika/models/standard_v3_3/config.min.json"
    labels = json.loads(config.read_text())["target_labels_space"]
    found = example_files(zoo, labels)
    order = [(kind, i) for i in range(PER_KIND) for kind in sorted(found) if i < len(found[kind])]
    for kind, i in (order * 3)[:SAMPLES]:
        yield {"bytes": ends(found[kind][i].read_bytes())}, labels.index(kind)


def example_files(zoo, labels):
    # The packages of the small tier only: the samples must not depend on what else was fetched.
    keys = {"skimage", "mpl", "espeak"} | {m["package"] for m in models("small")} - {"project", "onnx"}
    for key in keys:
        zoo.packages.folder(key)
    roots = [sorted(base / key for key in keys) for base in (zoo.packages.unpacked, zoo.packages.downloads)]
    roots.append([Path(os.__file__).parent])
    roots.append([Path(np.__file__).parent])
    found = {}
    for path in (p for group in roots for root in group for p in sorted(root.rglob("*"))):
        kind = KINDS.get(path.suffix)
        if (
            kind in labels
            and len(found.setdefault(kind, [])) < PER_KIND
            and path.is_file()
            and 400 < path.stat().st_size < 3e7
        ):
            found[kind].append(path)
    return found


def ends(data):
    """The first and last kilobyte without surrounding white space, padded between."""
    first, last = data[:BLOCK], data[-BLOCK:]
    short = len(data) <= BLOCK
    first = (first.strip() if short else first.lstrip())[:WINDOW]
    last = (last.strip() if short else last.rstrip())[-WINDOW:]
    gap = [PADDING] * (2 * WINDOW - len(first) - len(last))
    return np.array([[*first, *gap, *last]], np.int32)
