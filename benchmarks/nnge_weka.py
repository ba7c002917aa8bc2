"""NNge, J48 and SMO compared with Weka on the same splits.

Weka 3.6.14 is the program the paper used. Its NNge, J48 (C4.5) and SMO (SVM) are trained with
their defaults on the same rows in the same order as `NNgeClassifier` and the scikit-learn models
that take the place of J48 and SMO on the reproduction page. Two thirds of each table, at most 800
rows, train; at most 1000 of the others test; five splits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.io import arff
from sklearn import datasets as samples
from sklearn.base import ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import landbridge as lb
from benchmarks import _weka
from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import datasets

NAME = "nnge_weka"
SPLITS = 5
BAR = 0.01
LEARNERS = ("NNge", "J48", "SMO")
WEKA_TABLES = ("diabetes", "glass", "ionosphere", "segment-challenge", "unbalanced")


@dataclass(frozen=True)
class Table:
    """Rows of numbers with class codes from 0."""

    name: str
    X: np.ndarray
    codes: np.ndarray


def like_weka(learner: str) -> ClassifierMixin:
    """Our counterpart of one of Weka's learners.

    SMO is a linear SVM with C = 1 on features scaled to [0, 1]. J48 splits on gain ratio and
    prunes by a confidence bound on the error; scikit-learn has neither, so the tree splits on
    entropy and is pruned by cost and complexity.
    """
    if learner == "NNge":
        return lb.NNgeClassifier()
    if learner == "SMO":
        return make_pipeline(MinMaxScaler(), SVC(kernel="linear", C=1.0))
    return DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=2, ccp_alpha=0.005, random_state=0
    )


def tables() -> Iterator[Table]:
    """Seventeen tables: scikit-learn's, Weka's examples, wine, abalone, and drawn ones."""
    for name in ("iris", "wine", "breast_cancer"):
        yield _table(name, *getattr(samples, f"load_{name}")(return_X_y=True))
    X, y = samples.load_digits(return_X_y=True)
    keep = np.isin(y, (3, 8))
    yield _table("digits 3 and 8", X[keep], y[keep])
    for name in WEKA_TABLES:
        rows, meta = arff.loadarff(_weka.EXAMPLES / f"{name}.arff")
        *features, label = meta.names()
        numeric = [feature for feature in features if meta[feature][0] == "numeric"]
        yield _table(name, np.column_stack([rows[f] for f in numeric]), rows[label])
    wine = datasets.fetch_wine_quality()
    for colour in ("red", "white"):
        own = wine.domain == colour
        yield _table(f"{colour} wine", wine.data[own], wine.target[own] > 5)
    abalone = datasets.fetch_abalone()
    yield _table("abalone (sex)", np.asarray(abalone.data), abalone.domain)
    rng = np.random.default_rng(0)
    normal, uniform = rng.normal(size=(600, 4)), rng.uniform(-1, 1, size=(600, 2))
    yield _table("exclusive or, 4 features", normal, normal[:, 0] * normal[:, 1] > 0)
    yield _table("exclusive or, 2 features", uniform, uniform[:, 0] * uniform[:, 1] > 0)
    yield _table("moons", *samples.make_moons(600, noise=0.25, random_state=0))
    yield _table("circles", *samples.make_circles(600, noise=0.15, factor=0.5, random_state=0))
    yield _table("blobs", *samples.make_classification(600, 10, n_informative=5, random_state=0))


def _table(name: str, X: np.ndarray, y: np.ndarray) -> Table:
    return Table(name, np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1])


def run() -> None:
    """Compare on every table if Weka is installed; write the page from the results either way."""
    if not _weka.installed():
        print("Weka is not installed; the page is written from the stored results.")
        report()
        return
    cells = (
        ({"table": table.name, "learner": learner, "split": split}, (table, learner, split))
        for table in tables()
        for learner in LEARNERS
        for split in range(SPLITS)
    )
    with Log(NAME) as log:
        log.run(_compare, cells)
    report()


def _compare(table: Table, learner: str, split: int) -> dict[str, float]:
    order = np.random.default_rng(split).permutation(len(table.codes))
    n = min(int(0.67 * len(order)), 800)
    train, test = order[:n], order[n : n + 1000]
    X, codes, truth = table.X[train], table.codes[train], table.codes[test]
    theirs = _weka.predictions(learner, X, codes, table.X[test], int(table.codes.max()) + 1)
    ours = like_weka(learner).fit(X, codes).predict(table.X[test])
    return {
        "ours": float(np.mean(ours == truth)),
        "weka": float(np.mean(theirs == truth)),
        "same": float(np.mean(ours == theirs)),
    }


def report() -> None:
    """Write ``docs/benchmarks/nnge_weka.md``."""
    lines = read(NAME)
    names = list(dict.fromkeys(line["table"] for line in lines))
    text = [
        f"# {__doc__.splitlines()[0]}",
        __doc__.split("\n\n", 1)[1].strip(),
        "Accuracy of ours and of Weka, their difference in points, and the share of test rows with "
        "the same answer.",
    ]
    for learner in LEARNERS:
        rows, gaps = [], []
        for name in names:
            own = [x for x in lines if x["table"] == name and x["learner"] == learner]
            ours, weka, same = (np.mean([x[key] for x in own]) for key in ("ours", "weka", "same"))
            gaps.append(ours - weka)
            rows.append(
                [name, f"{ours:.3f}", f"{weka:.3f}", f"{100 * gaps[-1]:+.1f}", f"{same:.3f}"]
            )
        within = np.sum(np.abs(gaps) <= BAR)
        text += [
            f"## {learner}",
            f"Within {BAR} of Weka's accuracy on {within} of {len(names)} tables; mean difference "
            f"{100 * np.mean(gaps):+.1f} points, largest loss {-100 * min(gaps):.1f}, largest gain "
            f"{100 * max(gaps):.1f}.",
            markdown_table(["table", "ours", "Weka", "difference", "same answer"], rows),
        ]
    write_page(NAME, "\n\n".join(text))
