"""Settings of all Python tests. They judge the command line from outside, on the files it writes."""

import pytest
from octet_cli import BINARY
from places import Places


def pytest_sessionstart(session):
    if not session.config.option.collectonly and not BINARY.exists():
        pytest.exit(f"{BINARY} is not built: run scripts/octet --help once, or set OCTET_BIN", returncode=1)


@pytest.fixture(scope="session")
def places():
    running = Places()
    yield running
    running.close()
