#!/usr/bin/env python3
"""Writes static_reference.csv: Octet and the reference tool side by side with equal settings: the same prepared model and
samples, static QDQ, u8 activations, s8 weights, Conv, MatMul and Gemm with stored weights, all their outputs rounded. SQNR
of the worst output over the evaluation samples, and the model's own metric for float, reference and Octet; and under
octet_default both where Octet leaves outputs of matrices in float that no integer node reads, as it does by default.

make_static_reference.py [--only NAME,NAME] [--methods minmax,percentile,entropy]
"""

import argparse
import csv
import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "zoo"), str(HERE.parent / "support")]

import onnx
import runtime
from fetch_zoo import ensure
from limited import run_limited
from metrics import rate
from octet_cli import octet
from quantized_zoo import TARGET, float_run
from sources import models

DATA = HERE.parent / "data"
# The embedded model stands beside those of the zoo.
DIGITS = {"name": "digits_cnn", "file": DATA / "digits_cnn.onnx", "metric": "digits"}
DIGITS |= {"calib": DATA / "digits_cnn/calib", "eval": DATA / "digits_cnn/eval"}
TABLE = HERE / "static_reference.csv"
COLUMNS = ("model", "method", "granularity", "reference_db", "octet_db", "octet_default_db", "metric", "float_metric")
COLUMNS += ("reference_metric", "octet_metric", "octet_default_metric", "reference_error")
OPERATORS = ["Conv", "MatMul", "Gemm"]
# Its histogram methods keep every value of every sample: more than this is not to be had everywhere.
MEMORY_BYTES, SECONDS = 10 << 30, 240


def reference_worker(source, target, calib, method, per_channel):
    """Runs the reference tool in this process."""
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.samples = iter(runtime.load_samples(Path(calib)))

        def get_next(self):
            return next(self.samples, None)

    methods = {"minmax": "MinMax", "percentile": "Percentile", "entropy": "Entropy"}
    quantize_static(
        source,
        target,
        Reader(),
        quant_format=QuantFormat.QDQ,
        op_types_to_quantize=OPERATORS,
        per_channel=per_channel,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=getattr(CalibrationMethod, methods[method]),
        extra_options={"MatMulConstBOnly": True},
    )


def run_reference(*arguments):
    """Why it failed, "" when it did not."""
    command = [sys.executable, __file__, "--worker", json.dumps([str(a) if isinstance(a, Path) else a for a in arguments])]
    return run_limited(command, MEMORY_BYTES, SECONDS)[:120]


def judged(path, source, samples, reference, folder):
    """SQNR and metric, or why it does not run."""
    try:
        outputs = runtime.run_all(path, samples)
    except Exception as fault:  # what the runtime says is the finding, not where the file lay
        return "", "", str(fault).splitlines()[0].replace(str(path), path.name)[:120]
    metric = rate(source["metric"], reference, outputs, folder, onnx.load(path, load_external_data=False))
    return f"{runtime.worst_sqnr(reference, outputs):.1f}", "" if metric is None else f"{metric:.4f}", ""


def rows_of(zoo, source, methods, folder):
    original, calib = zoo / source["file"], zoo / source["calib"]
    prepared, theirs, ours = (folder / f"{name}.onnx" for name in ("prepared", "theirs", "ours"))
    octet("prepare", original, "-o", prepared, "--no-verify", "--force").succeeded()
    samples, reference = float_run(original, zoo / source["eval"])
    for method in methods:
        for granularity in ("per-channel", "per-tensor"):
            error = run_reference(prepared, theirs, calib, method, granularity == "per-channel")
            db, metric = "", ""
            if not error:
                db, metric, error = judged(theirs, source, samples, reference, zoo / source["eval"])
            options = ["--method", method, f"--{granularity}", "--op-types", ",".join(OPERATORS), "--target", TARGET]
            common = ["quantize", prepared, "-o", ours, "--calib", calib, "--no-verify", "--force", *options]
            judgements = []
            for more in (["--round-outputs"], []):
                octet(*common, *more).succeeded()
                judgements.append(judged(ours, source, samples, reference, zoo / source["eval"]))
                assert not judgements[-1][2], judgements[-1][2]
            (octet_db, octet_metric, _), (default_db, default_metric, _) = judgements
            own = rate(source["metric"], reference, reference, zoo / source["eval"], onnx.load(original, load_external_data=False))
            yield dict(
                zip(
                    COLUMNS,
                    (source["name"], method, granularity, db, octet_db, default_db)
                    + (source["metric"] if metric or octet_metric else "",)
                    + ("" if own is None else f"{own:.4f}", metric, octet_metric, default_metric, error),
                )
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--methods", default="minmax")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return reference_worker(*json.loads(options.worker))
    only = [name for name in options.only.split(",") if name]
    of_zoo = [name for name in only if name != DIGITS["name"]]
    zoo, entries = ensure("all", of_zoo) if of_zoo or not only else (DATA, [])
    if not only or DIGITS["name"] in only:
        entries = [DIGITS, *entries]
    rows = {}
    if TABLE.exists():
        with open(TABLE, newline="") as file:
            rows = {tuple(row[c] for c in COLUMNS[:3]): row for row in csv.DictReader(file)}
    order = [DIGITS["name"], *(m["name"] for m in models("all"))]
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            if "calib" not in entry or entry["name"].endswith("int8"):
                continue
            for row in rows_of(zoo, entry, options.methods.split(","), Path(folder)):
                rows[row["model"], row["method"], row["granularity"]] = row
                print(" ".join(map(str, row.values())), flush=True)
            with open(TABLE, "w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(sorted(rows.values(), key=lambda row: order.index(row["model"])))
    print(f"{len(rows)} rows in {TABLE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
