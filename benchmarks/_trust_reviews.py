"""Free text: does the default `select` reach pooled TF-IDF and logistic regression on reviews?"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from benchmarks._harness import markdown_table
from landbridge import Pooled, datasets

PAIRS = (("books", "dvd"), ("MR", "music"), ("baby", "software"))
N_SOURCE, N_LABELS, DRAWS = 1500, 100, 2
BAR = 0.01


def cells() -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Names and arguments of every line."""
    return [
        ({"source": source, "target": target, "draw": draw}, (source, target, draw))
        for source, target in PAIRS
        for draw in range(DRAWS)
    ]


def examine(source: str, target: str, draw: int) -> dict[str, Any]:
    """Accuracy of both on the target rows whose labels were left empty."""
    table, y = review_table(source, target, draw)
    unlabelled = table["label"].is_null().to_numpy()
    truth = y[unlabelled]
    right = {
        "select": predicted_by_select(table, target)[unlabelled] == truth,
        "pooled": predicted_by_pooled(table, target)[unlabelled] == truth,
    }
    difference = right["select"].astype(float) - right["pooled"]
    return {
        "rows": int(unlabelled.sum()),
        **{name: float(found.mean()) for name, found in right.items()},
        "difference": float(difference.mean()),
        "error": float(difference.std(ddof=1) / np.sqrt(difference.size)),
    }


def review_table(source: str, target: str, draw: int) -> tuple[pl.DataFrame, np.ndarray]:
    """A table as a user has it, and all its labels."""
    data = datasets.fetch_reviews()
    domains, y = np.asarray(data.domain), np.asarray(data.target)
    rng = np.random.default_rng(draw)
    rows = [rng.permutation(np.flatnonzero(domains == name)) for name in (source, target)]
    chosen = np.concatenate([rows[0][:N_SOURCE], rows[1]])
    known = np.arange(chosen.size) < N_SOURCE + N_LABELS
    texts = np.asarray(data.data, dtype=object)[chosen]
    table = pl.DataFrame(
        {
            "review": texts.tolist(),
            "product": domains[chosen].astype(str).tolist(),
            "label": [
                int(own) if kept else None for own, kept in zip(y[chosen], known, strict=True)
            ],
        }
    )
    return table, y[chosen]


def predicted_by_select(table: pl.DataFrame, target: str) -> np.ndarray:
    """Predictions of all rows by the model that the default command saves."""
    with tempfile.TemporaryDirectory() as folder:
        data, model, found = (Path(folder) / name for name in ("t.csv", "m.skops", "p.csv"))
        table.write_csv(data)
        names = ["--label", "label", "--domain", "product"]
        _run("select", data, *names, "--target", target, "--save", model)
        _run("predict", model, data, "-o", found)
        return pl.read_csv(found)["prediction"].to_numpy()


def _run(*arguments: Any) -> None:
    command = [sys.executable, "-m", "landbridge", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


def predicted_by_pooled(table: pl.DataFrame, target: str) -> np.ndarray:
    """Predictions of all rows by what a practitioner would write in four lines."""
    X = TfidfVectorizer().fit_transform(table["review"].to_list())
    known, theirs = table["label"].is_not_null().to_numpy(), (table["product"] == target).to_numpy()
    y = table["label"].fill_null(0).to_numpy()
    model = Pooled(LogisticRegression(max_iter=1000))
    mine = known & theirs
    model.fit(X[~theirs], y[~theirs], X_target=X[mine], y_target=y[mine])
    return model.predict(X)


def section(lines: list[dict[str, Any]]) -> list[str]:
    """Accuracy by table, mean over draws."""
    rows = []
    for source, target in PAIRS:
        own = [x for x in lines if (x["source"], x["target"]) == (source, target)]
        means = [np.mean([x[name] for x in own]) for name in ("select", "pooled", "difference")]
        error = np.sqrt(np.sum([x["error"] ** 2 for x in own])) / len(own)
        rows.append(
            [
                f"{source} → {target}",
                len(own),
                own[0]["rows"],
                *(f"{value:.4f}" for value in means[:2]),
                f"{means[2]:+.4f} ± {error:.4f}",
            ]
        )
    return [
        "## Free text",
        f"Sentiment of reviews from a file with one column of text: {N_SOURCE} source rows, "
        f"{N_LABELS} target labels. Accuracy on the target rows without labels, of the model that "
        "`landbridge select --save` writes with default options, and of TF-IDF with logistic "
        "regression on the pooled rows.",
        markdown_table(
            ["reviews", "draws", "test rows", "`select`", "TF-IDF, pooled", "difference"], rows
        ),
        f"Must hold: at most {BAR} below TF-IDF with logistic regression.",
    ]
