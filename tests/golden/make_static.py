#!/usr/bin/env python3
"""Writes static.csv: every model of the zoo that has calibration samples, in every method, format and granularity of
static quantization, on its evaluation samples. Its difference is what a reviewer reads.

make_static.py [--small | --full] [--only NAME,NAME] [--no-web]
"""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "zoo"), str(HERE.parent / "support")]

from fetch_zoo import ensure
from sources import models
from static_zoo import CONFIGURATIONS, Calibrated, stored_rows, write_rows
from web_runtime import WebRuntime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--small", dest="tier", action="store_const", const="small", default="all")
    parser.add_argument("--full", dest="tier", action="store_const", const="full")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--no-web", action="store_true", help="leave onnxruntime-web out; its column stays empty")
    options = parser.parse_args()
    zoo, entries = ensure(options.tier, [name for name in options.only.split(",") if name])
    order, rows, failed = [m["name"] for m in models("all")], stored_rows(), 0
    with tempfile.TemporaryDirectory() as folder:
        web = None if options.no_web else WebRuntime(Path(folder))
        for entry in entries:
            if "calib" not in entry:
                continue
            calibrated = Calibrated(zoo, entry, Path(folder))
            for configuration in CONFIGURATIONS:
                try:
                    row = calibrated.row(*configuration, web)
                except Exception as fault:  # the table is of what works: what does not is said, and fails the command
                    failed += 1
                    print(f"{entry['name']} {' '.join(configuration)}: FAILED {str(fault)[:300]}", flush=True)
                    continue
                rows[entry["name"], *configuration] = row
                print(" ".join(map(str, row.values())), flush=True)
            write_rows(rows, order)
        if web:
            web.close()
    print(f"{len(rows)} rows, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
