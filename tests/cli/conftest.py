"""A server that tests of octet serve share, and a page for it to show."""

import random

import pytest
from octet_cli import PROJECT
from octet_server import serving

DIGITS = PROJECT / "tests/data/digits_cnn.onnx"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "assets").mkdir()
    for name in ("index.html", "octet.wasm", "assets/main.js", "assets/w.mjs", "manifest.webmanifest", "icon.svg"):
        (folder / name).write_text(f"content of {name}")
    (folder / "large.bin").write_bytes(random.Random(1).randbytes(3_000_000))
    (folder / "empty.css").write_bytes(b"")
    (folder / ".hidden").write_text("not to be shown")
    (folder.parent / "secret.txt").write_text("not to be shown")
    (folder / "out.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "out").symlink_to(folder.parent)
    return folder


@pytest.fixture(scope="module")
def server(page, tmp_path_factory):
    with serving(page, tmp_path_factory.mktemp("serve"), "--calib", DIGITS.with_suffix("") / "calib", "--data", DIGITS.with_suffix("") / "eval") as running:
        assert running.put(DIGITS, "digits.onnx").json == {"name": "digits.onnx", "bytes": DIGITS.stat().st_size}
        yield running
