"""What the tests of the zoo share: its models, and the runtime of browsers."""

import pytest
from fetch_zoo import ensure
from quantized_zoo import tier
from web_runtime import WebRuntime


@pytest.fixture(scope="session")
def zoo():
    folder, entries = ensure(tier())
    return folder, {entry["name"]: entry for entry in entries}


@pytest.fixture(scope="session")
def web(tmp_path_factory):
    runner = WebRuntime(tmp_path_factory.mktemp("web"))
    yield runner
    runner.close()
