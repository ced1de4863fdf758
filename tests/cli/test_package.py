"""The archive of scripts/package: unpacked anywhere, it runs with nothing of the machine that made it."""

import hashlib
import json
import os
import re
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest
from octet_cli import EXIT, PROJECT

MOST_BYTES = 60_000_000
# What comes from the system: glibc alone.
SYSTEM_FOLDERS = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
SYSTEM = re.compile(r"(?:ld-linux.*|libc|libm|libdl|libpthread|librt)\.so(?:\.\d+)?")
# Lines of the dynamic linker's own account: a library in use, a place looked at, a file asked for.
IN_USE = re.compile(r"calling init: (/.*)$", re.MULTILINE)
LOOKED_AT = re.compile(r"(?:calling init: |trying file=|\bfile=)(/.*?)(?: \[\d+\];.*)?$", re.MULTILINE)


def make(folder):
    run = subprocess.run([PROJECT / "scripts/package", folder], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    [archive] = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return make(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def unpacked(archive, tmp_path_factory):
    place = tmp_path_factory.mktemp("unpacked") / "with a space"
    place.mkdir()
    subprocess.run(["tar", "-xzf", archive, "-C", place], check=True)
    [folder] = place.iterdir()
    return folder


def run(program, *arguments, **environment):
    """As on another machine: none of this one's variables."""
    command = [str(program), *map(str, arguments)]
    return subprocess.run(
        command, env={"PATH": "/usr/bin:/bin"} | environment, capture_output=True, text=True, check=False
    )


def digits(unpacked):
    samples = unpacked / "share/octet/samples"
    return samples / "digits_cnn.onnx", samples / "digits_cnn/calib", samples / "digits_cnn/eval"


def cache():
    text = (PROJECT / "build/deps/native.cmake").read_text()
    return re.search(r'^set\(OCTET_CACHE "(.*)"\)$', text, re.MULTILINE)[1]


def test_it_quantizes_and_verifies_with_its_own_libraries(unpacked, tmp_path):
    model, calib, data = digits(unpacked)
    linker = tmp_path / "linker"
    linker.mkdir()
    elsewhere = tmp_path / "octet"  # as from a folder of PATH
    elsewhere.symlink_to(unpacked / "bin/octet")
    output = tmp_path / "small.onnx"
    arguments = "quantize", model, "-o", output, "--mode", "static", "--calib", calib, "--data", data, "--json"
    finished = run(elsewhere, *arguments, LD_DEBUG="libs,files", LD_DEBUG_OUTPUT=str(linker / "of"))
    assert finished.returncode == 0, finished.stderr
    verify = json.loads(finished.stdout)["verify"]
    assert verify["verified"] and not verify["synthetic"] and verify["samples"] == 8
    assert verify["worst_sqnr_db"] > 30 and verify["accuracy"]["candidate"] > 0.97
    assert output.stat().st_size < model.stat().st_size / 2

    accounts = [path.read_text("utf8", "replace") for path in linker.iterdir()]
    assert len(accounts) >= 2, "the process that verifies has an account of its own"
    assert any("libonnxruntime.so.1" in path for account in accounts for path in IN_USE.findall(account))
    own = unpacked.resolve()
    for account in accounts:
        for path in LOOKED_AT.findall(account):
            ours = own in Path(os.path.normpath(path)).parents
            assert ours or path == str(elsewhere) or path.startswith(SYSTEM_FOLDERS), path
        for path in IN_USE.findall(account):
            ours = own in Path(os.path.normpath(path)).parents
            assert ours or path == str(elsewhere) or SYSTEM.fullmatch(Path(path).name), path


def test_without_its_runtime_it_finds_no_other(unpacked, tmp_path):
    """That of the build is still where it was."""
    model, calib, data = digits(unpacked)
    library, away = unpacked / "lib/libonnxruntime.so.1", unpacked / "lib/away"
    library.rename(away)
    try:
        finished = run(unpacked / "bin/octet", "compare", model, model, "--data", data)
    finally:
        away.rename(library)
    assert finished.returncode == EXIT["run"], finished.stdout + finished.stderr
    assert str(library) in finished.stderr and cache() not in finished.stderr
    assert run(unpacked / "bin/octet", "compare", model, model, "--data", data).returncode == 0


def test_nothing_in_it_names_this_machine(unpacked):
    places = [place for place in (cache(), str(PROJECT), str(Path.home())) if place != "/"]
    # Compilers cut texts into pieces of 16 bytes.
    pieces = "".join(f"|{re.escape(place[:16])}" for place in places if len(place) >= 16)
    private = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, places))})/[\w.]{pieces}".encode())
    files = [path for path in unpacked.rglob("*") if path.is_file()]
    found = {str(path.relative_to(unpacked)): m[0] for path in files if (m := private.search(path.read_bytes()))}
    assert not found
    assert all(private.search(f"\0{place}/x".encode()) for place in places)


def test_it_is_small_whole_and_the_same_again(archive, unpacked, tmp_path):
    version = re.search(r"project\(octet VERSION ([\d.]+)", (PROJECT / "CMakeLists.txt").read_text())[1]
    assert re.fullmatch(rf"octet-{re.escape(version)}-linux-(?:x64|arm64)\.tar\.gz", archive.name)
    assert archive.stat().st_size < MOST_BYTES
    assert run(unpacked / "bin/octet", "--version").stdout == f"octet {version}\n"

    with tarfile.open(archive) as content:
        entries = content.getmembers()
    names = [entry.name for entry in entries]
    assert names == sorted(names, key=lambda name: name.split("/"))
    assert {(entry.uid, entry.gid, entry.mtime) for entry in entries} == {(0, 0, entries[0].mtime)}
    assert all(entry.isdir() or entry.isfile() for entry in entries)
    assert {stat.S_IMODE(entry.mode) for entry in entries} == {0o755, 0o644}

    licenses = {path.stem for path in (unpacked / "licenses").iterdir()}
    assert licenses >= {"onnx", "protobuf", "onnxruntime-LICENSE", "onnxruntime-ThirdPartyNotices"}
    assert all(path.stat().st_size > 0 for path in unpacked.rglob("*") if path.is_file())
    assert (unpacked / "LICENSE").read_bytes() == (PROJECT / "LICENSE").read_bytes()
    assert (unpacked / "share/octet/page/index.html").exists() == (PROJECT / "build/page/index.html").exists()

    again = make(tmp_path)
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(archive.read_bytes()).digest()
