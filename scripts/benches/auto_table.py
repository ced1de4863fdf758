"""tests/golden/auto.csv: what it holds of each model, what its figures come to, and how they look in README.md."""

import csv

BUDGET_DB, BUDGET_METRIC = 25, 0.005  # octet auto's own floor; the share of the float model's metric that may be lost
# Where the metric is the cosine of the outputs with the float model's, about the drift at which half a percent is lost:
# noise of a tenth of the signal turns a vector to a cosine of sqrt(1 - 0.1²) at worst.
BUDGET_COSINE_DB = 20.01
KINDS = ("reference", "default", "auto")
OF_EACH = ("bytes", "db", "metric", "speed", "low", "high")
OF_EACH += ("loads_wasm", "wasm_speed", "wasm_low", "wasm_high", "wasm_why")
COLUMNS = ["model", "float_bytes", "float_ms", "float_metric", "reference_setting", "reference_why"]
COLUMNS += [f"{kind}_{column}" for kind in KINDS for column in OF_EACH]
# Of runs paired with those of the reference's best, not with those of the float model.
COLUMNS += ["auto_over_reference_speed", "auto_over_reference_low", "auto_over_reference_high"]
COLUMNS += ["budget_db", "chosen", "nodes_out", "measurements", "seconds", "ended_early"]

HEADS = ("model", "made by", "MB", "dB", "metric", "native", "Chromium")


def meets_budget(db, metric, float_metric):
    """The drift is within the budget, or what the model is for is not lost. Numbers, or None where there is none."""
    kept = None not in (metric, float_metric) and metric >= float_metric * (1 - BUDGET_METRIC)
    return kept or (db is not None and db >= BUDGET_DB)


def number(row, column):
    return float(row[column]) if row.get(column) else None


def row_meets_budget(row, kind):
    return meets_budget(number(row, f"{kind}_db"), number(row, f"{kind}_metric"), number(row, "float_metric"))


def read_rows(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_row(path, row, order):
    """Puts the row into the table, in place of the one of the same model."""
    rows = {one["model"]: one for one in read_rows(path)} | {row["model"]: row}
    places = {name: place for place, name in enumerate(order)}
    replacement = path.with_suffix(".part")
    with replacement.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows.values(), key=lambda one: (places.get(one["model"], len(places)), one["model"])))
    replacement.replace(path)


def speed(row, prefix):
    ratio, low, high = (number(row, f"{prefix}{column}") for column in ("speed", "low", "high"))
    return f"{ratio:.2f}x [{low:.2f}, {high:.2f}]"


def in_wasm(row, kind):
    if number(row, f"{kind}_wasm_speed"):
        return speed(row, f"{kind}_wasm_")
    return row[f"{kind}_wasm_why"]


def lines(row):
    """One of Markdown's table for each way that a model was made."""
    for kind in KINDS:
        first = f"`{row['model']}`" if kind == KINDS[0] else ""
        if kind == "reference" and not row["reference_setting"]:
            yield f"| {first} | Python | - | - | - | none: {row['reference_why'].replace('|', '/')} | - |"
            continue
        made_by = {"reference": f"Python, {row['reference_setting']}", "default": "Octet", "auto": "Octet auto"}[kind]
        sizes = [f"{number(row, column) / 1e6:.2f}" for column in ("float_bytes", f"{kind}_bytes")]
        metrics = [number(row, column) for column in ("float_metric", f"{kind}_metric")]
        cells = [first, made_by, " → ".join(sizes), f"{number(row, f'{kind}_db'):.1f}"]
        cells.append("-" if None in metrics else " → ".join(f"{metric:.3f}" for metric in metrics))
        cells += [speed(row, f"{kind}_"), in_wasm(row, kind).replace("|", "/")]
        yield f"| {' | '.join(cells)} |"


def head():
    return f"| {' | '.join(HEADS)} |\n|{' --- |' * len(HEADS)}"


def markdown(rows):
    return "\n".join([head(), *(line for row in rows for line in lines(row))]) + "\n"
