"""The rules of ARCHITECTURE.md that a look at the sources can check."""

import re

from source_tree import PROJECT, code_of, files, includes_of, place, sources

# What core may include besides C++'s own headers and its own: the ONNX protobufs, JSON, SIMD and decoders of pictures.
CORE_LIBRARIES = ("onnx/", "google/protobuf/", "nlohmann/", "hwy/", "stb_image")
# C++'s own headers that reach files, clocks, the terminal or the process.
IMPURE_HEADERS = {
    *("chrono", "csignal", "cstdlib", "ctime", "filesystem", "fstream", "iostream", "print", "random", "syncstream")
}

IMPURE_CALLS = re.compile(
    r"\bstd\s*::\s*(?:cout|cerr|clog|cin|ofstream|ifstream|fstream|filesystem|chrono|terminate|random_device)\b"
    r"|(?<![\w.>:])(?:std\s*::\s*|::\s*)?"
    r"(?:printf|vprintf|fprintf|puts|fputs|putchar|fwrite|fopen|freopen|tmpfile|system|popen|time|clock|clock_gettime"
    r"|gettimeofday|getenv|setenv|abort|exit|_exit|_Exit|quick_exit|assert|rand|srand|mmap)\s*\("
)

# Data, generated or quoted whole: not read line by line by anybody.
NOT_CODE = {".json", ".onnx", ".npz", ".npy", ".pb", ".md", ".txt", ".csv", ".svg", ".png"}
MOST_LINES = 400

PRIVATE_NAMES = re.compile(
    r"p[y]pi\.org|python[h]osted\.org|registry\.[n]pmjs|npm[m]irror|deb\.[d]ebian\.org|proxy\.[g]olang|crates\.[i]o"
    r"|(?<![\w.~])/(?:root|home|work|Users)/\w"
)


def test_core_includes_no_engine_file_clock_or_platform():
    wrong = []
    for path in sources("core"):
        for line, name, quoted in includes_of(path.read_text()):
            own = quoted and any((PROJECT / "core" / folder / name).is_file() for folder in ("include", "src"))
            pure = not quoted and re.fullmatch(r"[a-z_0-9]+", name) and name not in IMPURE_HEADERS
            if not own and not pure and not name.startswith(CORE_LIBRARIES):
                wrong.append(f"{place(path, line)}: includes {name}")
    assert not wrong, "\n".join(wrong)


def test_core_calls_nothing_that_touches_the_world():
    wrong = []
    for path in sources("core"):
        code = code_of(path.read_text())
        for match in IMPURE_CALLS.finditer(code):
            wrong.append(f"{place(path, code.count(chr(10), 0, match.start()) + 1)}: {match[0].strip()}")
    assert not wrong, "\n".join(wrong)


def test_native_and_wasm_see_the_public_headers_of_core_alone():
    wrong = []
    for folder in ("native", "wasm"):
        for path in sources(folder):
            for line, name, quoted in includes_of(path.read_text()):
                public = (PROJECT / "core/include" / name).is_file()
                own = any((base / name).is_file() for base in (PROJECT / folder / "src", path.parent))
                private = not own and (PROJECT / "core/src" / name).is_file()
                if private or (quoted and not public and not own):
                    wrong.append(f"{place(path, line)}: includes {name}")
    assert not wrong, "\n".join(wrong)


def test_public_headers_stand_alone():
    wrong = [
        f"{place(path, line)}: includes {name}"
        for path in sources("core/include")
        for line, name, quoted in includes_of(path.read_text())
        if (quoted and not name.startswith("octet/")) or (not quoted and not re.fullmatch(r"[a-z_0-9]+", name))
    ]
    assert not wrong, "\n".join(wrong)


def text_files():
    for path in files():
        content = path.read_bytes()
        if b"\0" not in content[:8192]:
            yield path, content.decode("utf8", "replace")


def test_files_stay_readable():
    long = {}
    for path, text in text_files():
        name = path.relative_to(PROJECT)
        if path.suffix not in NOT_CODE and name.name != "LICENSE" and text.count("\n") > MOST_LINES:
            long[str(name)] = text.count("\n")
    assert not long, f"longer than {MOST_LINES} lines: {long}"


def test_no_file_names_a_registry_or_a_machine():
    wrong = [
        f"{place(path, text.count(chr(10), 0, match.start()) + 1)}: {match[0]}"
        for path, text in text_files()
        for match in PRIVATE_NAMES.finditer(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_checks_see_what_they_look_for():
    assert IMPURE_CALLS.search("  std::cout << 1;") and IMPURE_CALLS.search("x = time(nullptr);")
    assert IMPURE_CALLS.search("std::abort();") and IMPURE_CALLS.search("::exit(1)")
    assert not IMPURE_CALLS.search("std::snprintf(text, 3, format)")
    assert not IMPURE_CALLS.search("runtime(x); list.remove(x); a->open(x); Foo::time(1)")
    assert code_of('a("abort()"); // exit(1)\nb(\'"\'); /* time( */ c;').split() == ['a("");', 'b("");', "c;"]
    assert code_of("x = 100'000 + 1'000;") == "x = 100'000 + 1'000;"
    assert PRIVATE_NAMES.search("see " + "/home" + "/somebody") and not PRIVATE_NAMES.search("tests/work/x and ~/.cache")
