#!/usr/bin/env python3
"""Measures the zoo again and rewrites results.csv; its difference is what a reviewer reads.

update_results.py [--full | --all] [--only NAME,NAME]
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from fetch_zoo import ensure
from quantized_zoo import MODES, RESULTS, Quantized, stored_results, write_results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--full", dest="tier", action="store_const", const="full", default="small")
    parser.add_argument("--all", dest="tier", action="store_const", const="all")
    parser.add_argument("--only", default="", help="names, separated by commas")
    options = parser.parse_args()
    zoo, entries = ensure(options.tier, [name for name in options.only.split(",") if name])
    rows, old = stored_results(), stored_results()
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            for mode in MODES:
                quantized = Quantized(zoo, entry, mode, Path(folder))
                key = entry["name"], mode
                rows[key] = quantized.result()
                quantized.path.unlink()
                before = f" (was {old[key]['bytes_out']}, {old[key]['worst_sqnr_db']} dB)" if key in old else ""
                print(
                    f"{entry['name']} {mode}: {rows[key]['bytes_out']} bytes, {rows[key]['worst_sqnr_db']} dB{before}",
                    flush=True,
                )
    write_results(rows)
    print(f"{len(rows)} rows in {RESULTS.name}")


if __name__ == "__main__":
    main()
