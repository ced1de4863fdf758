"""The WebAssembly core under Node writes the same bytes as the command line, for every model of the zoo."""

import pytest
from fetch_zoo import ensure
from node_jobs import NodeJobs
from octet_cli import PROJECT, octet
from quantized_zoo import MODES, names, tier
from sources import sha256


@pytest.fixture(scope="module")
def zoo():
    folder, entries = ensure(tier())
    return {entry["name"]: folder / entry["file"] for entry in entries}


@pytest.fixture(scope="module")
def module():
    jobs = NodeJobs(PROJECT / "tests/wasm/quantize_cli.mjs", "-")
    yield jobs
    jobs.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", names())
def test_same_bytes(name, mode, zoo, module, tmp_path):
    for target in ("x64", "wasm"):
        native, web = tmp_path / f"{target}.native.onnx", tmp_path / f"{target}.web.onnx"
        octet("quantize", zoo[name], "-o", native, "--mode", mode, "--target", target, "--no-verify").succeeded()
        options = {"mode": mode, "target": target}
        answer = module.ask({"model": str(zoo[name]), "options": options, "output": str(web)})
        assert "error" not in answer, answer
        assert sha256(web) == sha256(native), target
        native.unlink(), web.unlink()
