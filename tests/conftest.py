"""Settings of all Python tests. They judge the command line from outside, on the files it writes."""

import pytest
from octet_cli import BINARY


def pytest_sessionstart(session):
    if not session.config.option.collectonly and not BINARY.exists():
        pytest.exit(f"{BINARY} is not built: run scripts/octet --help once, or set OCTET_BIN", returncode=1)
