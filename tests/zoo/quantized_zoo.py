"""Quantizes models of the zoo and measures what comes out: shared by the tests and by update_results.py."""

import csv
import dataclasses
import functools
import os
from functools import cached_property
from pathlib import Path

import onnx
import onnx_facts
import runtime
from octet_cli import octet, quantize
from sources import HERE, models

MODES = ("dynamic", "weights")
TARGET = "x64"  # fixed: the default is the machine at hand, and results of one machine must hold on another
RESULTS = HERE / "results.csv"
COLUMNS = ("model", "mode", "bytes_in", "bytes_out", "ratio", "worst_sqnr_db")


def tier():
    """The part of the zoo to test: small unless OCTET_ZOO says full or all."""
    return os.environ.get("OCTET_ZOO") or "small"


def names():
    return [m["name"] for m in models(tier())]


@dataclasses.dataclass
class Quantized:
    """One model in one mode. `source` is its entry in zoo.json."""

    zoo: Path
    source: dict
    mode: str
    folder: Path

    @property
    def source_path(self):
        return self.zoo / self.source["file"]

    @property
    def path(self):
        return self.folder / f"{self.source['name']}.{self.mode}.onnx"

    @cached_property
    def report(self):
        """Quantizes on first use, with the calibration samples as data so that the quality floor holds."""
        samples = self.zoo / self.source.get("calib", self.source["eval"])
        return quantize(self.source_path, self.path, "--mode", self.mode, "--target", TARGET, "--data", samples)

    @cached_property
    def model(self):
        assert self.report
        return onnx.load(self.path)

    @property
    def samples(self):
        return float_run(self.source_path, self.zoo / self.source["eval"])[0]

    @property
    def reference(self):
        return float_run(self.source_path, self.zoo / self.source["eval"])[1]

    @cached_property
    def outputs(self):
        assert self.report
        return runtime.run_all(self.path, self.samples)

    def steady(self):
        """The same on any machine: where measured speed had a say in the plan, quantized again without it."""
        if not any("float speed here" in node["why"] for node in self.report["plan"]["nodes"]):
            return self
        folder = self.folder / "steady"
        folder.mkdir(exist_ok=True)
        plan, other = folder / "plan.json", Quantized(self.zoo, self.source, self.mode, folder)
        fixed = ["--mode", self.mode, "--target", TARGET, "--no-verify", "--force"]
        octet("quantize", self.source_path, "-o", other.path, "--save-plan", plan, *fixed).succeeded()
        samples = self.zoo / self.source.get("calib", self.source["eval"])
        other.report = quantize(self.source_path, other.path, "--plan", plan, "--data", samples, "--force")
        return other

    def result(self):
        """A row of results.csv."""
        steady = self.steady()
        before, after = onnx_facts.file_bytes(self.source_path), onnx_facts.file_bytes(steady.path)
        return {
            "model": self.source["name"],
            "mode": self.mode,
            "bytes_in": before,
            "bytes_out": after,
            "ratio": f"{after / before:.3f}",
            "worst_sqnr_db": f"{runtime.worst_sqnr(self.reference, steady.outputs):.1f}",
        }


@functools.lru_cache(maxsize=1)  # both modes of a model follow each other
def float_run(model, folder):
    """The evaluation samples and what the float model makes of them."""
    samples = runtime.load_samples(folder)
    return samples, runtime.run_all(model, samples, optimized=False)


def stored_results():
    if not RESULTS.exists():
        return {}
    with open(RESULTS, newline="") as file:
        return {(row["model"], row["mode"]): row for row in csv.DictReader(file)}


def write_results(rows):
    order = [m["name"] for m in models("all")]
    with open(RESULTS, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows.values(), key=lambda row: (order.index(row["model"]), row["mode"])))
