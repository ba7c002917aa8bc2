"""How fast a T-greedy path is, and how fast moments are read from a file.

Path: 16 000 rows, 2 000 features, eight domains and 300 steps, in double and in single precision.
`selector` is `TGreedySelector(stop=None)`, which computes products of columns in blocks when
needed; `single products` is the same with `dtype="float32"`; `full` first computes the products
of all columns; `residual` is the form in which the algorithm is usually written, one pass over
the rows per step; `default stop` adds the eight paths that leave out a domain. `product` is the
cost that no form avoids: in each domain, the product of all columns with the selected ones,
known beforehand. `product of all` is that of all columns. Features are independent, or noisy
mixtures of 100 factors. Each figure is the minimum of five runs, and the forms alternate, so
that a slow phase of the machine affects all of them.

Stream: 10 000 000 rows of 100 features, a label and one of eight domains in a Parquet file of
single precision. `plain` is a polars pass that only sums the same products.
"""

import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from benchmarks._harness import HERE, Log, markdown_table, measure, read, write_page

NAME = "tgreedy_speed"
FORMS = ["selector", "product", "product of all", "residual", "full", "default stop"]
PRECISIONS = {"double": ["single products", *FORMS], "single": FORMS}
REPEATS = 5
KINDS = ["independent", "correlated"]
ROWS, COLUMNS, CHUNK = 10_000_000, 100, 100_000


def write_file(path: Path, n_rows: int) -> None:
    """Rows in random order of eight domains; x0 has the same effect in all of them."""
    rng = np.random.default_rng(0)
    names = np.array([f"s{k}" for k in range(8)])
    writer = None
    for _ in range(n_rows // CHUNK):
        X = rng.standard_normal((COLUMNS, CHUNK), dtype=np.float32)
        codes = rng.integers(0, 8, CHUNK)
        y = X[0] + (codes - 3.5).astype(np.float32) * X[1]
        columns = {f"x{i}": column for i, column in enumerate(X)}
        table = pl.DataFrame({**columns, "y": y, "site": names[codes]}).to_arrow()
        if writer is None:
            writer = pq.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table, row_group_size=CHUNK)
    writer.close()


def run() -> None:
    cells = (
        ({"part": "path", "seed": 0, "kind": kind, "precision": precision}, (kind, precision))
        for kind, precision in product(KINDS, PRECISIONS)
    )
    with Log(NAME) as log:
        log.run(least, cells, n_jobs=1)
        log.run(stream, [({"part": "stream", "seed": 0, "rows": ROWS}, ())], n_jobs=1)
    page()


def least(kind: str, precision: str) -> list[dict[str, Any]]:
    """Of each form the run with the least CPU time: load only ever adds."""
    task, forms = HERE / "tasks" / "tgreedy_path.py", PRECISIONS[precision]
    shared = {"kind": kind, "precision": precision}
    rounds = [
        {form: measure(task, {"form": form, **shared}) for form in forms} for _ in range(REPEATS)
    ]
    return [
        {"form": form, **min((r[form] for r in rounds), key=lambda f: f["cpu_s"])} for form in forms
    ]


def stream() -> list[dict[str, Any]]:
    """Both forms on one file."""
    with tempfile.TemporaryDirectory() as folder:
        path, task = Path(folder) / "rows.parquet", HERE / "tasks" / "tgreedy_stream.py"
        write_file(path, ROWS)
        return [
            {"form": form, **measure(task, {"form": form, "path": str(path)})}
            for form in ("plain", "landbridge")
        ]


def page() -> None:
    lines = read(NAME)
    text = ["# Speed of T-greedy selection", "", __doc__.split("\n\n", 1)[1].strip()]
    paths = [r for r in lines if r["part"] == "path"]
    for kind in KINDS:
        for precision in PRECISIONS:
            asked = {"kind": kind, "precision": precision}
            found = {r["form"]: r for r in paths if asked.items() <= r.items()}
            text += ["", f"## Path, {kind} features, {precision} precision", ""]
            text += [path_table(found), "", path_verdict(found)]
    found = {r["form"]: r for r in lines if r["part"] == "stream"}
    if found:
        text += ["", "## Stream", "", stream_table(found), "", stream_verdict(found)]
    write_page(NAME, "\n".join(text))


def path_table(found) -> str:
    rows = [
        [
            form,
            f"{line['cpu_s']:.2f}",
            f"{line['cpu_s'] / found['residual']['cpu_s']:.2f}",
            f"{line['cpu_s'] / found['product']['cpu_s']:.1f}",
            f"{line['extra_mb']:.0f}",
            line["distinct"],
        ]
        for form, line in found.items()
    ]
    header = ["form", "CPU s", "× residual", "× product", "extra MB", "features or columns"]
    return markdown_table(header, rows)


def path_verdict(found) -> str:
    same = sum(
        a == b for a, b in zip(found["selector"]["first"], found["residual"]["first"], strict=True)
    )
    cpu = {form: line["cpu_s"] for form, line in found.items()}
    bars = [
        ("residual", "of the residual form", 0.2),
        ("product", "times the product with the picked columns", 2),
        ("product of all", "times the product of all columns", 2),
    ]
    facts = [(f"{cpu['selector']:.2f} s of CPU", "at most 1 s", cpu["selector"] <= 1)]
    for form, what, bar in bars:
        ratio = cpu["selector"] / cpu[form]
        facts.append((f"{ratio:.2f} {what}", f"at most {bar}", ratio <= bar))
    words = [f"- {fact}; aim: {aim}; {'reached' if met else 'missed'}." for fact, aim, met in facts]
    words.append(
        f"- The first {same} of 200 picks are those of the residual form."
        if same < 200
        else "- All of the first 200 picks are those of the residual form."
    )
    return "\n".join(words)


def stream_table(found) -> str:
    rows = [
        [form, f"{r['cpu_s']:.1f}", f"{r['wall_s']:.1f}", f"{r['peak_mb']:.0f}"]
        for form, r in found.items()
    ]
    return markdown_table(["form", "CPU s", "wall s", "peak MB"], rows)


def stream_verdict(found) -> str:
    ours, plain = found["landbridge"], found["plain"]
    speed = plain["cpu_s"] / ours["cpu_s"]
    return (
        f"- {speed:.0%} of the speed of the plain pass (CPU); aim: at least 50 %; "
        f"{'reached' if speed >= 0.5 else 'missed'}.\n"
        f"- Peak memory {ours['peak_mb']:.0f} MB with Python and all libraries; aim: below "
        f"1000 MB; {'reached' if ours['peak_mb'] < 1000 else 'missed'}."
    )
