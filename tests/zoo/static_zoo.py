"""Static quantization of the zoo: every method, format and granularity from one calibration per model. Shared by the
tests and by tests/golden/make_static.py."""

import csv
import dataclasses
import itertools
from functools import cached_property
from pathlib import Path

import onnx
import onnx_facts
import runtime
from metrics import rate
from octet_cli import octet
from quantized_zoo import TARGET, float_run

METHODS = ("minmax", "entropy", "percentile", "mse")
FORMATS = ("qdq", "qoperator")
GRANULARITIES = ("per-channel", "per-tensor")
CONFIGURATIONS = list(itertools.product(METHODS, FORMATS, GRANULARITIES))
TABLE = Path(__file__).resolve().parent.parent / "golden/static.csv"
COLUMNS = ("model", "method", "format", "granularity", "bytes", "ratio", "sqnr_db", "plain_db", "integer", "products", "web_db", "metric")

# Operators that multiply and sum, in integers and in float, in a graph that the runtime has optimized.
INTEGER = {"QLinearConv", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "ConvInteger", "MatMulInteger"}
INTEGER |= {"DynamicQuantizeMatMul", "DynamicQuantizeLSTM", "QAttention"}
FLOAT = {"Conv", "FusedConv", "ConvTranspose", "MatMul", "FusedMatMul", "Gemm", "FusedGemm", "LSTM", "GRU", "RNN"}
FLOAT |= {"Attention", "MultiHeadAttention"}


@dataclasses.dataclass
class Calibrated:
    """One model of the zoo with its ranges. `source` is its entry in zoo.json."""

    zoo: Path
    source: dict
    folder: Path

    @property
    def source_path(self):
        return self.zoo / self.source["file"]

    @cached_property
    def ranges(self):
        path = self.folder / f"{self.source['name']}.ranges.json"
        octet("calibrate", self.source_path, "--calib", self.zoo / self.source["calib"], "-o", path).succeeded()
        return path

    def quantize(self, method, form, granularity, *options):
        path = self.folder / f"{self.source['name']}.static.onnx"
        given = ["--ranges", self.ranges, "--method", method, "--format", form, f"--{granularity}", "--target", TARGET]
        octet("quantize", self.source_path, "-o", path, "--no-verify", "--force", *given, *options).succeeded()
        return path

    @property
    def evaluation(self):
        """Samples, and what the float model makes of them."""
        return float_run(self.source_path, self.zoo / self.source["eval"])

    def metric(self, outputs):
        model = onnx.load(self.source_path, load_external_data=False)
        return rate(self.source["metric"], self.evaluation[1], outputs, self.zoo / self.source["eval"], model)

    def row(self, method, form, granularity, web=None, web_samples=2):
        """What one configuration comes to. Raises when it does not load or run anywhere."""
        path = self.quantize(method, form, granularity)
        samples, reference = self.evaluation
        outputs, counts = run_counting(path, samples, self.folder)
        plain = runtime.run_all(path, samples, optimized=False)
        web_outputs = web.run_all(path, samples[:web_samples]) if web else None
        before, after = onnx_facts.file_bytes(self.source_path), onnx_facts.file_bytes(path)
        metric = self.metric(outputs)
        integer = sum(counts.get(op, 0) for op in INTEGER)
        path.unlink()
        return {
            "model": self.source["name"],
            "method": method,
            "format": form,
            "granularity": granularity,
            "bytes": after,
            "ratio": f"{after / before:.3f}",
            "sqnr_db": f"{runtime.worst_sqnr(reference, outputs):.1f}",
            "plain_db": f"{runtime.worst_sqnr(reference, plain):.1f}",
            "integer": integer,
            "products": integer + sum(counts.get(op, 0) for op in FLOAT),
            "web_db": f"{runtime.worst_sqnr(reference[:web_samples], web_outputs):.1f}" if web else "",
            "metric": "" if metric is None else f"{metric:.4f}",
        }


def run_counting(path, samples, folder):
    """Outputs of every sample, and how often each operator stands in the optimized graph."""
    optimized = folder / "optimized.onnx"
    session = runtime.session(path, optimized_file=optimized)
    names = [o.name for o in session.get_outputs()]
    outputs = [dict(zip(names, session.run(None, sample))) for sample in samples]
    graph = onnx.load(optimized, load_external_data=False).graph
    optimized.unlink()
    counts = {}
    for node in graph.node:
        counts[node.op_type] = counts.get(node.op_type, 0) + 1
    return outputs, counts


def stored_rows():
    if not TABLE.exists():
        return {}
    with open(TABLE, newline="") as file:
        return {tuple(row[c] for c in COLUMNS[:4]): row for row in csv.DictReader(file)}


def write_rows(rows, order):
    with open(TABLE, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        key = lambda row: (order.index(row["model"]), CONFIGURATIONS.index((row["method"], row["format"], row["granularity"])))  # noqa: E731
        writer.writerows(sorted(rows.values(), key=key))
