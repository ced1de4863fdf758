"""The archive for arm64, unpacked into an empty folder, runs in an emulator with nothing but what is inside."""

import re
import subprocess
from pathlib import Path

import pytest
from emulated import EMULATOR, MODELS, emulated, proved, quantized, samples, setting
from octet_cli import PROJECT, octet

MOST_BYTES = 60_000_000
RUNTIME = "libonnxruntime.so.1"
GLIBC = re.compile(r"(?:ld-linux-aarch64|libc|libm|libdl|libpthread|librt)\.so(?:\.\d+)?")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    run = subprocess.run([PROJECT / "scripts/package", "arm64", folder], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    [made] = folder.iterdir()
    return made


def unpack(archive, place):
    place.mkdir()
    subprocess.run(["tar", "-xzf", archive, "-C", place], check=True)
    [folder] = place.iterdir()
    return folder


@pytest.fixture(scope="module")
def shipped(archive, tmp_path_factory):
    return unpack(archive, tmp_path_factory.mktemp("shipped") / "with a space")


def dynamic(file):
    """{tag: values} of what the dynamic linker reads in a file."""
    said = subprocess.run(["readelf", "--dynamic", file], capture_output=True, text=True, check=True).stdout
    found = {}
    for tag, value in re.findall(r"\((\w+)\)\s.*\[(.*)\]", said):
        found.setdefault(tag, []).append(value)
    return found


def test_it_is_small_and_says_what_it_is(archive, shipped):
    version = re.search(r"project\(octet VERSION ([\d.]+)", (PROJECT / "CMakeLists.txt").read_text())[1]
    assert archive.name == f"octet-{version}-linux-arm64.tar.gz" and archive.stat().st_size < MOST_BYTES
    assert emulated(shipped / "bin/octet", "--version").succeeded().stdout == f"octet {version}\n"
    assert "for Linux on arm64" in (shipped / "README.txt").read_text()
    licenses = {path.stem for path in (shipped / "licenses").iterdir()}
    assert licenses >= {"onnx", "protobuf", "onnxruntime-LICENSE", "libhwy-dev", "libzip4", "libssl3", "libstdc++6"}


def test_its_libraries_are_for_arm64_and_found(shipped):
    libraries = {path.name: dynamic(path) for path in (shipped / "lib").iterdir()}
    program = dynamic(shipped / "bin/octet")
    assert program["RPATH"] == ["$ORIGIN/../lib"]
    for path in [shipped / "bin/octet", *(shipped / "lib").iterdir()]:
        said = subprocess.run(["readelf", "--file-header", path], capture_output=True, text=True, check=True).stdout
        assert re.search(r"Machine:\s+AArch64", said), path
    assert all(tags["SONAME"] == [name] for name, tags in libraries.items())
    needed = {name for tags in (program, *libraries.values()) for name in tags["NEEDED"]}
    assert needed - set(libraries) == {name for name in needed if GLIBC.fullmatch(name)}
    assert RUNTIME in libraries and set(libraries) - needed == {RUNTIME}
    # What is shipped is what npm has for this kind of processor.
    npm = Path(setting("OCTET_NODE_MODULES")) / "onnxruntime-node/bin/napi-v6/linux/arm64" / RUNTIME
    assert (shipped / "lib" / RUNTIME).read_bytes() == npm.read_bytes()


def test_it_runs_with_its_own_libraries(shipped):
    command = [*EMULATOR, "-E", "LD_DEBUG=libs", str(shipped / "bin/octet"), "--version"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    used = re.findall(r"calling init: (/.*)$", run.stderr, re.MULTILINE)
    own = [path for path in used if path.startswith(f"{shipped}/")]
    assert len(own) > 3 and all(path in own or GLIBC.fullmatch(path.rpartition("/")[2]) for path in used), used


@pytest.mark.parametrize("model", ["digits_cnn", "gpt_char"])
def test_it_inspects_quantizes_and_proves(model, shipped, tmp_path):
    elsewhere = tmp_path / "octet"  # as from a folder of PATH
    elsewhere.symlink_to(shipped / "bin/octet")
    path = shipped / f"share/octet/samples/{model}.onnx"
    assert path.read_bytes() == (MODELS / path.name).read_bytes()
    assert "dynamic for arm64: " in emulated(elsewhere, "inspect", path).succeeded().stdout
    plan = tmp_path / "plan.json"
    asked = "--calib", samples(model, "calib"), "--data", samples(model, "eval"), "--save-plan", plan
    proved(quantized(elsewhere, model, tmp_path / "small.onnx", *asked), model)
    octet("quantize", path, "-o", tmp_path / "there.onnx", "--plan", plan, "--no-verify").succeeded()
    assert (tmp_path / "small.onnx").read_bytes() == (tmp_path / "there.onnx").read_bytes()


def test_without_its_runtime_it_finds_no_other(archive, tmp_path):
    folder = unpack(archive, tmp_path / "here")
    (folder / "lib" / RUNTIME).unlink()
    model = MODELS / "digits_cnn.onnx"
    refused = emulated(folder / "bin/octet", "compare", model, model, "--data", samples("digits_cnn", "eval"))
    assert refused.exit != 0 and str(folder / "lib" / RUNTIME) in refused.stderr
    assert setting("OCTET_CACHE") not in refused.stderr
