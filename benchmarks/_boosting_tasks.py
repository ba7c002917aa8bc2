"""The five transfer tasks of Table 2 of Al-Stouhi and Reddy, drawn anew for every seed."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from landbridge.datasets import fetch_20newsgroups, fetch_abalone, fetch_wine_quality

# (source, target), each (first class, second class); the splits of Dai et al. (KDD 2007).
GROUPS = {
    "rec-vs-talk": (
        (("rec.autos", "rec.motorcycles"), ("talk.politics.guns", "talk.politics.misc")),
        (("rec.sport.baseball", "rec.sport.hockey"), ("talk.politics.mideast",
        "talk.religion.misc")),
    ),
    "rec-vs-sci": (
        (("rec.autos", "rec.sport.baseball"), ("sci.med", "sci.space")),
        (("rec.motorcycles", "rec.sport.hockey"), ("sci.crypt", "sci.electronics")),
    ),
    "sci-vs-talk": (
        (("sci.electronics", "sci.med"), ("talk.politics.misc", "talk.religion.misc")),
        (("sci.crypt", "sci.space"), ("talk.politics.guns", "talk.politics.mideast")),
    ),
}  # fmt: skip
TASKS = ("sci-vs-talk", "rec-vs-sci", "rec-vs-talk", "wine", "abalone")
# Target rows for training, as in the paper; in text, this share of the source rows.
TEXT_RATIO = 0.005
WINE_ROWS, ABALONE_ROWS = 14, 11
DOCUMENT_FREQUENCY = 188


@dataclass(frozen=True)
class Draw:
    """One draw of a task: source, labelled target rows, target rows for testing."""

    X: Any
    y: np.ndarray
    X_target: Any
    y_target: np.ndarray
    X_test: Any
    y_test: np.ndarray


def draw(task: str, seed: int, *, ratio: float = TEXT_RATIO) -> Draw:
    """Balance the classes at random where the paper does, and pick the target's training rows."""
    rng = np.random.default_rng([seed, TASKS.index(task)])
    X, y, X_pool, y_pool = _rows(task)
    source = np.arange(y.size) if task == "wine" else _balanced(y, rng)
    pool = np.arange(y_pool.size) if task == "wine" else _balanced(y_pool, rng)
    n_target = {"wine": WINE_ROWS, "abalone": ABALONE_ROWS}.get(task, round(ratio * source.size))
    chosen = rng.permutation(pool)
    while np.unique(y_pool[chosen[:n_target]]).size < 2:
        chosen = rng.permutation(pool)
    train, test = chosen[:n_target], chosen[n_target:]
    return Draw(X[source], y[source], X_pool[train], y_pool[train], X_pool[test], y_pool[test])


def draw_white(n_target: int, seed: int) -> Draw:
    """Red wines and some white ones, good (6 or better) or not: more target rows than Table 2."""
    data, rng = fetch_wine_quality(), np.random.default_rng([seed, n_target])
    parts = _split(data.data, (data.target >= 6).astype(int), data.domain, "red", "white")
    X, y, X_pool, y_pool = parts
    train, test = np.split(rng.permutation(y_pool.size), [n_target])
    return Draw(X, y, X_pool[train], y_pool[train], X_pool[test], y_pool[test])


def _balanced(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All rows of the rarer class and as many of the other."""
    classes, counts = np.unique(y, return_counts=True)
    picks = [rng.choice(np.flatnonzero(y == c), counts.min(), replace=False) for c in classes]
    return np.sort(np.concatenate(picks))


@cache
def _rows(task: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Source rows and the pool of target rows."""
    if task == "wine":
        data = fetch_wine_quality()
        keep = np.isin(data.target, (5, 6))
        return _split(data.data[keep], data.target[keep], data.domain[keep], "white", "red")
    if task == "abalone":
        data = fetch_abalone()
        return _split(data.data, np.where(data.target == 7, 7, 0), data.domain, "M", "F")
    return _text_rows(task)


def _split(X: Any, y: np.ndarray, domain: np.ndarray, source: str, target: str) -> tuple:
    return X[domain == source], y[domain == source], X[domain == target], y[domain == target]


@cache
def _text_rows(task: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Words (0 or 1) that occur in at least 188 documents; message headers are cut off."""
    data = fetch_20newsgroups()
    category, split = np.asarray(data.target), np.asarray(data.split)
    source, target = GROUPS[task]
    in_source = np.isin(category, sum(source, ())) & (split == "train")
    in_target = np.isin(category, sum(target, ())) & (split == "train")
    rows = np.flatnonzero(in_source | in_target)
    bodies = [data.data[row].partition("\n\n")[2] for row in rows]
    words = CountVectorizer(min_df=DOCUMENT_FREQUENCY, binary=True, dtype=np.float64)
    X = words.fit_transform(bodies).tocsr()
    y = np.isin(category[rows], source[1] + target[1]).astype(int)
    return _split(X, y, in_source[rows].astype(str), "True", "False")
