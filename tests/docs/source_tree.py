"""The tree's own files, and C++ sources without what compilers skip."""

import re
import shutil
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
NOT_OURS = {".git", "build", "node_modules", "__pycache__", ".pytest_cache", ".cache"}

# A string, a character, or a comment: whichever starts first hides the others.
_HIDDEN = re.compile(
    r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # not the ' in 100'000
    r"|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)


def files():
    """What git tracks; without git, everything but what builds leave behind."""
    if (PROJECT / ".git").exists() and shutil.which("git"):
        command = ["git", "-C", PROJECT, "-c", f"safe.directory={PROJECT}", "ls-files", "-z"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
        return [PROJECT / name for name in listed if name and (PROJECT / name).is_file()]
    return [p for p in PROJECT.rglob("*") if p.is_file() and not NOT_OURS & set(p.relative_to(PROJECT).parts)]


def sources(*folders):
    """C++ sources and headers below folders of the tree, whether tracked yet or not."""
    return sorted(
        path
        for folder in folders
        for path in (PROJECT / folder).rglob("*")
        if path.suffix in {".cc", ".h"} and not NOT_OURS & set(path.relative_to(PROJECT).parts)
    )


def code_of(text):
    """C++ text with comments and the content of strings made blank, its lines kept."""

    def blank(match):
        found = match[0]
        if found.startswith("/"):
            return "\n" * found.count("\n") or " "
        return '""' + "\n" * found.count("\n")

    return _HIDDEN.sub(blank, text)


def includes_of(text):
    """(line number, name, whether in quotes) of every #include."""
    return [
        (text.count("\n", 0, m.start()) + 1, m[2], m[1] == '"')
        for m in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', text, re.MULTILINE)
    ]


def place(path, line):
    return f"{path.relative_to(PROJECT)}:{line}"
