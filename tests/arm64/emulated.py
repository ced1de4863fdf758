"""Runs programs for arm64 on a machine that is none."""

import json
import os
import re
import shutil
import subprocess

from octet_cli import PROJECT, Finished



def setting(name):
    """What scripts/setup wrote down."""
    text = (PROJECT / "build/deps/arm64.cmake").read_text()
    return re.search(rf'^set\({name} "(.*)"\)$', text, re.MULTILINE)[1]


EMULATOR = setting("OCTET_EMULATOR").split()
OCTET = PROJECT / "build/arm64/octet"
MODELS = PROJECT / "tests/data"
# On x64 every 8-bit form of both samples keeps 31 dB; kernels for another processor round elsewhere.
LEAST_DB = 28


def emulated(program, *arguments, **environment):
    """As on another machine, with nothing of this one's variables but how to start what the program starts."""
    assert shutil.which(EMULATOR[0]), "scripts/setup arm64 installs the emulator"
    command = [*EMULATOR, str(program), *map(str, arguments)]
    variables = {"PATH": os.environ["PATH"], "OCTET_EMULATOR": " ".join(EMULATOR)} | environment
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=variables, check=False)
    return Finished(command, run.returncode, *(text.decode("utf8", "replace") for text in (run.stdout, run.stderr)))


def samples(model, kind):
    return MODELS / model / kind


def quantized(program, model, output, *options, **environment):
    """Quantizes one of the samples and returns the report."""
    command = "quantize", MODELS / f"{model}.onnx", "-o", output, "--json", *options
    return json.loads(emulated(program, *command, **environment).succeeded().stdout)


def proved(report, model):
    """Loads, runs and keeps near the original on every sample, and says nothing of time."""
    verify = report["verify"]
    assert verify["verified"] and verify["loads"] and verify["runs"] and verify["finite"], verify
    assert "plain_error" not in verify and not verify["synthetic"]
    assert verify["samples"] == 8 and verify["worst_sqnr_db"] > LEAST_DB and verify["consistency_sqnr_db"] > LEAST_DB
    assert verify["accuracy"]["candidate"] > verify["accuracy"]["reference"] - 0.02, model
    assert "latency" not in verify and "speed" not in report
    assert verify["why"] == "not timed: this program runs in an emulator (qemu-aarch64)"
    assert "faster" not in report["verdict"]["sentence"] and "slower" not in report["verdict"]["sentence"]
