"""Runs models in onnxruntime-web under Node."""

import numpy as np
from node_jobs import NodeJobs
from octet_cli import PROJECT


class WebRuntime:
    def __init__(self, folder):
        self.folder, self.jobs = folder, NodeJobs(PROJECT / "tests/zoo/run_web.mjs")

    def run_all(self, model, samples):
        """Outputs of every sample, by name."""
        described = [[self._write(i, *item) for item in feeds.items()] for i, feeds in enumerate(samples)]
        answer = self.jobs.ask({"model": str(model), "samples": described, "folder": str(self.folder)})
        assert "error" not in answer, f"onnxruntime-web: {answer['error']}"
        return [{output["name"]: read(output) for output in outputs} for outputs in answer["outputs"]]

    def _write(self, i, name, array):
        path = self.folder / f"input_{i}_{abs(hash(name))}.bin"
        path.write_bytes(np.asarray(array, order="C").tobytes())
        return {"name": name, "type": str(array.dtype), "dims": list(array.shape), "file": str(path)}

    def close(self):
        self.jobs.close()


def read(output):
    return np.fromfile(output["file"], output["type"]).reshape(output["dims"])
