"""Puts the program, its libraries, samples and licences into one archive; scripts/package builds first and calls this.

The same inputs give the same bytes: names are sorted, times fixed (SOURCE_DATE_EPOCH, or 1980), owners root.
"""

import argparse
import gzip
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "build/page"
CPUS = {"x86_64": "x64", "aarch64": "arm64"}
MOST_BYTES = 60_000_000

# What belongs to glibc must come from where the program runs: it fits its kernel and its own dynamic linker.
GLIBC = re.compile(r"(?:linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv|libutil)\.so(?:\.\d+)?")
# Compiled into the program without leaving a library: Debian's packages of headers.
HEADERS = ("nlohmann-json3-dev", "libcli11-dev", "libstb-dev", "libcpp-httplib-dev", "libhwy-dev")

README = """\
Octet {version} for Linux on {cpu}

    bin/octet --help
    bin/octet quantize share/octet/samples/digits_cnn.onnx -o small.onnx \\
        --calib share/octet/samples/digits_cnn/calib --data share/octet/samples/digits_cnn/eval

The folder can stand anywhere, and bin/octet can be called through a symbolic link. It takes a Linux with glibc
{glibc} or newer and nothing else: the libraries it needs, ONNX Runtime among them, are in lib/. OCTET_ORT_LIBRARY
names another libonnxruntime.so.1 to run models with.

share/octet/samples/   two small models with data to try it on; their origin is in README.md there
{page}LICENSE, licenses/     the terms of Octet (Apache License 2.0) and of everything else that is inside
"""
PAGE_LINE = "share/octet/page/      Octet in the browser: static files for any web server\n"


def fail(text):
    sys.exit(f"package: {text}")


def settings(preset):
    """What scripts/setup wrote down for CMake."""
    text = (PROJECT / f"build/deps/{preset}.cmake").read_text()
    return {name: Path(value) for name, value in re.findall(r'^set\((\w+) "(.+)"\)$', text, re.MULTILINE)}


def project_version(preset):
    """As the program says it; one for another kind of machine does not run here."""
    cache = (PROJECT / "build" / preset / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.+)$", cache, re.MULTILINE)[1]


def said(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def put(source, target, mode=0o644):
    if not source.is_file():
        fail(f"{source} is missing")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def put_folder(source, target):
    for path in sorted(source.rglob("*")):
        if path.is_file():
            put(path, target / path.relative_to(source))


def libraries(sysroot, *programs):
    """{name: file} of every shared library these need, in turn as well, that is not glibc's."""
    return cross_libraries(sysroot, *programs) if sysroot else native_libraries(*programs)


def cross_libraries(sysroot, *programs):
    found, left = {}, list(programs)
    while left:
        program = left.pop()
        for name in re.findall(r"\(NEEDED\).*\[(.+)\]", said("readelf", "--dynamic", program)):
            if name in found or name == program.name or GLIBC.fullmatch(name):
                continue
            places = [path for folder in ("usr/lib", "lib") for path in (sysroot / folder).glob(f"*-linux-gnu/{name}")]
            if not places:
                fail(f"{program} needs {name}, which scripts/setup did not fetch")
            found[name] = places[0].resolve()
            left.append(found[name])
    return dict(sorted(found.items()))


def native_libraries(*programs):
    found = {}
    for program in programs:
        for name, place in re.findall(r"^\s*(\S+) => (.+?)(?: \(0x\w+\))?$", said("ldd", program), re.MULTILINE):
            if GLIBC.fullmatch(name):
                continue
            if place == "not found":
                fail(f"{program} needs {name}, which is not installed")
            found[name] = Path(place).resolve()
    return dict(sorted(found.items()))


def debian_package(file, sysroot):
    """The package that a file is of."""
    if sysroot:
        for names in sorted((sysroot / "packages").glob("*.list")):
            if f" ./{file.relative_to(sysroot.resolve())}\n" in names.read_text():
                return names.stem
        fail(f"no package has {file}: its licence is unknown")
    for line in said("dpkg-query", "-S", f"*/{file.name}").splitlines():
        package, _, path = line.partition(": ")
        if Path(path).resolve() == file:
            return package.split(":")[0]
    fail(f"no package owns {file}: its licence is unknown")


def put_licenses(stage, found, places, with_page):
    """Everything's own terms, from where it is installed."""
    sysroot = places.get("OCTET_SYSROOT")
    folder = stage / "licenses"
    put(PROJECT / "LICENSE", stage / "LICENSE")
    for path in sorted((places["OCTET_THIRD_PARTY"] / "licenses").glob("*.txt")):
        put(path, folder / path.name)
    for root, packages in (
        (sysroot or Path("/"), {debian_package(file, sysroot) for file in found.values()}),
        (Path("/"), HEADERS),
    ):
        for package in sorted(packages):
            put(root / "usr/share/doc" / package / "copyright", folder / f"{package}.txt")
    # The runtime's npm package has none; its Python package is made of the same sources.
    [runtime] = importlib.util.find_spec("onnxruntime").submodule_search_locations
    for name in ("LICENSE", "ThirdPartyNotices.txt"):
        put(Path(runtime) / name, folder / f"onnxruntime-{Path(name).stem}.txt")
    if with_page:
        modules = PROJECT / "web/node_modules"
        for name in ("preact", "@preact/signals", "@preact/signals-core", "fflate"):
            put(modules / name / "LICENSE", folder / f"{name.strip('@').replace('/', '-')}.txt")
        # C and C++ libraries inside the page's module.
        emsdk = os.environ.get("EMSDK")
        terms = Path(emsdk) / "upstream/emscripten/LICENSE" if emsdk else Path("/usr/share/doc/emscripten/copyright")
        put(terms, folder / "emscripten.txt")
    # Debian's files name common licences by where Debian keeps them.
    text = "".join(path.read_text("utf8", "replace") for path in sorted(folder.iterdir()))
    for name in sorted(set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", text))):
        if (file := Path("/usr/share/common-licenses") / name).is_file():
            put(file, folder / "common" / name)


def files_of(stage):
    return sorted(path for path in stage.rglob("*") if path.is_file())


def hide_places(stage, cache):
    """Takes the places of this machine out of everything and makes sure that none is left.

    onnx and protobuf keep the names of their source files for messages. Each is overwritten in place and in its length,
    so that nothing moves: the end, which says what is meant, stays.
    """
    sources = f"{cache}/src/".encode()
    places = [str(place) for place in (PROJECT, cache, Path.home()) if place != Path("/")]
    pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, places))})/[\w.]".encode())
    for path in files_of(stage):
        content = path.read_bytes()
        if sources in content:
            content = content.replace(sources, b"." + b"/" * (len(sources) - 1))
            path.write_bytes(content)
        if match := pattern.search(content):
            fail(f"{path.relative_to(stage)} names a place of this machine: {match[0].decode('utf8', 'replace')}")


def newest_glibc(stage):
    """The newest version of glibc that a program or library of the package asks for."""
    versions = [(0, 0)]
    for path in [*(stage / "bin").iterdir(), *(stage / "lib").iterdir()]:
        versions += [(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)\b", path.read_bytes())]
    return "{}.{}".format(*max(versions))


def write_archive(stage, target):
    time = int(os.environ.get("SOURCE_DATE_EPOCH") or 315532800)

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = time
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with (
            unfinished.open("wb") as raw,
            gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
        ):
            archive.add(stage, stage.name, filter=plain)  # a folder's files come sorted
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/package", description="Makes an archive of Octet that runs wherever it is unpacked."
    )
    parser.add_argument("preset", choices=("native", "arm64"), help="which build")
    parser.add_argument("folder", nargs="?", type=Path, default=PROJECT / "build/package")
    arguments = parser.parse_args()
    folder, preset = arguments.folder.resolve(), arguments.preset
    if (cpu := "arm64" if preset == "arm64" else CPUS.get(platform.machine())) is None:
        fail(f"no package is made for {platform.machine()}")
    places = settings(preset)
    version = project_version(preset)
    name = f"octet-{version}-linux-{cpu}"
    folder.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as temporary:
        stage = Path(temporary) / name
        binary = PROJECT / "build" / preset / "octet_packaged"
        runtime = places["OCTET_NODE_MODULES"] / f"onnxruntime-node/bin/napi-v6/linux/{cpu}/libonnxruntime.so.1"
        put(binary, stage / "bin/octet", 0o755)
        put(runtime, stage / "lib/libonnxruntime.so.1")
        found = libraries(places.get("OCTET_SYSROOT"), binary, runtime)
        for soname, file in found.items():
            put(file, stage / "lib" / soname)
        put_folder(PROJECT / "tests/data", stage / "share/octet/samples")
        with_page = (PAGE / "index.html").is_file()
        if with_page:
            put_folder(PAGE, stage / "share/octet/page")
        put_licenses(stage, found, places, with_page)
        (stage / "README.txt").write_text(
            README.format(version=version, cpu=cpu, glibc=newest_glibc(stage), page=PAGE_LINE if with_page else "")
        )
        hide_places(stage, places["OCTET_CACHE"])
        target = folder / f"{name}.tar.gz"
        write_archive(stage, target)

    size = target.stat().st_size
    if size >= MOST_BYTES:
        target.unlink()
        fail(f"{target.name} would have {size / 1e6:.1f} MB; {MOST_BYTES / 1e6:.0f} are the limit")
    print(f"{target}\n{size / 1e6:.1f} MB, {'with' if with_page else 'without'} the page")


if __name__ == "__main__":
    main()
