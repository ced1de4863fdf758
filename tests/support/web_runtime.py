"""Runs models in onnxruntime-web under Node, in one process that serves many of them."""

import json
import os
import shlex
import subprocess

import numpy as np
from octet_cli import PROJECT

RUNNER = PROJECT / "tests/zoo/run_web.mjs"


def node_modules():
    """Where scripts/setup put the npm packages."""
    if "OCTET_NODE_MODULES" in os.environ:
        return os.environ["OCTET_NODE_MODULES"]
    lines = (PROJECT / "build/deps/env.sh").read_text().splitlines()
    settings = dict(word.split("=", 1) for line in lines for word in shlex.split(line) if "=" in word)
    return settings["OCTET_NODE_MODULES"]


class WebRuntime:
    def __init__(self, folder):
        self.folder, self.process = folder, None

    def run(self, model, feeds):
        """Outputs by name."""
        inputs = []
        for i, (name, array) in enumerate(feeds.items()):
            path = self.folder / f"input_{i}.bin"
            path.write_bytes(np.asarray(array, order="C").tobytes())
            inputs.append({"name": name, "type": str(array.dtype), "dims": list(array.shape), "file": str(path)})
        answer = self._ask({"model": str(model), "inputs": inputs, "folder": str(self.folder)})
        assert "error" not in answer, f"onnxruntime-web: {answer['error']}"
        return {
            output["name"]: np.fromfile(output["file"], output["type"]).reshape(output["dims"])
            for output in answer["outputs"]
        }

    def _ask(self, job):
        if self.process is None or self.process.poll() is not None:
            environment = {**os.environ, "OCTET_NODE_MODULES": node_modules()}
            self.process = subprocess.Popen(
                ["node", str(RUNNER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else {"error": f"Node ended with status {self.process.wait()}"}

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
