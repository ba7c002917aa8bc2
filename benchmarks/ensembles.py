"""Locally weighted ensemble, NNge and LatentMap compared with plain learners.

Wine (seven grades, 100 labelled target rows) and Reuters (two topics, 120 labelled rows): five
draws of the labelled rows. Newsgroups (two branches, with other subgroups in source and target,
8000 words, tf-idf) and Amazon reviews (three products as sources, the fourth as target, 5000
words, tf-idf): no labels. Accuracy is measured on the unlabelled target rows. Members of the
ensemble: logistic regression, a tree and nearest neighbours on wine and Reuters; logistic
regression, naive Bayes and a linear SVM on the others. Labelled target rows count as any other
row. *Average* is the plain average of the members. *LWE, text clusters* takes k-means on 20
singular directions of unit length instead of the default k-means on scaled columns; *trusted*
relies on the clusters whether or not those of the sources follow the classes (`min_purity=0`; the
others have 0.3).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import landbridge as lb
from benchmarks._domains import NEWSGROUP_TASKS
from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import datasets
from landbridge._validation import TransferData
from landbridge.model_selection._fit_tasks import fit_candidate
from landbridge.model_selection.candidates import expand_candidates

NAME = "ensembles"
MIN_PURITY = 0.3
DRAWS = 5


@dataclass(frozen=True)
class Task:
    """Rows of a source and of a target; ``n_labelled`` target rows may be learned from."""

    family: str
    name: str
    X: Any
    y: np.ndarray
    X_target: Any
    y_target: np.ndarray
    n_labelled: int = 0
    groups: np.ndarray | None = None


def wine() -> Iterator[Task]:
    data = datasets.fetch_wine_quality()
    for source, target in (("red", "white"), ("white", "red")):
        a, b = data.domain == source, data.domain == target
        rows = data.data[a], data.target[a], data.data[b], data.target[b]
        yield Task("wine", f"{source} to {target}", *rows, n_labelled=100)


def reuters() -> Iterator[Task]:
    for name in ("orgs-people", "orgs-places", "people-places"):
        data = datasets.fetch_reuters_crossdomain(task=name)
        a, X = data.domain == "source", data.data.astype(float)
        rows = X[a], data.target[a], X[~a], data.target[~a]
        yield Task("reuters", name.replace("-", " to "), *rows, n_labelled=120)


def newsgroups() -> Iterator[Task]:
    data = datasets.fetch_20newsgroups()
    texts, category = np.array(data.data, dtype=object), np.asarray(data.target)
    branch = np.array([c.partition(".")[0] for c in category])
    for name, (first, second) in NEWSGROUP_TASKS.items():
        a, b = (np.flatnonzero(np.isin(category, leaves)) for leaves in (first, second))
        words = TfidfVectorizer(
            sublinear_tf=True, min_df=5, stop_words="english", max_features=8000
        )
        X = words.fit_transform(texts[np.r_[a, b]])
        yield Task("newsgroups", name, X[: a.size], branch[a], X[a.size :], branch[b])


def amazon() -> Iterator[Task]:
    data = datasets.fetch_amazon_reviews()
    frequent = np.argsort(-np.asarray((data.data != 0).sum(axis=0)).ravel())[:5000]
    X = TfidfTransformer().fit_transform(data.data[:, frequent].astype(float))
    for target in np.unique(data.domain):
        b = data.domain == target
        rows = X[~b], data.target[~b], X[b], data.target[b]
        yield Task("amazon", f"to {target}", *rows, groups=data.domain[~b])


def linear() -> Any:
    return make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1000))


def neighbours(*steps: Any) -> Any:
    vote = KNeighborsClassifier(15, metric="cosine", weights="distance")
    return make_pipeline(MaxAbsScaler(), *steps, vote)


def text_clusters() -> Any:
    return make_pipeline(TruncatedSVD(20), Normalizer(), KMeans(2, n_init=10))


def ensembles(members: list, clusterer: Any) -> dict[str, Any]:
    def make(min_purity: float = MIN_PURITY, clusterer: Any = None) -> Any:
        options = {"min_purity": min_purity, "clusterer": clusterer, "target_share": None}
        return lb.LocallyWeightedEnsemble(members, **options)

    found = {"average": make(min_purity=1), "LWE": make()}
    if clusterer is not None:
        found["LWE, text clusters"] = make(clusterer=clusterer)
    found["LWE, trusted"] = make(clusterer=clusterer, min_purity=0)
    return found


def three_members() -> list:
    return [
        ("linear", linear()),
        ("tree", DecisionTreeClassifier(min_samples_leaf=5)),
        ("neighbours", make_pipeline(MaxAbsScaler(), KNeighborsClassifier())),
    ]


def text_members() -> list:
    return [("linear", LogisticRegression()), ("bayes", MultinomialNB()), ("svm", LinearSVC())]


def with_labels(n_components: int) -> dict[str, Any]:
    return {
        "linear": lb.SourceOnly(linear()),
        "pooled linear": lb.Pooled(linear()),
        "target-only linear": lb.TargetOnly(linear()),
        "neighbours": lb.SourceOnly(neighbours()),
        "SVD, neighbours": lb.SourceOnly(neighbours(TruncatedSVD(n_components))),
        "LatentMap, neighbours": neighbours(lb.LatentMap(n_components)),
        **ensembles(three_members(), None),
    }


def nnge() -> dict[str, Any]:
    boxes = lb.NNgeClassifier(shuffle=True)
    return {
        "NNge": lb.SourceOnly(boxes),
        "pooled NNge": lb.Pooled(boxes, target_share=None),
        "target-only NNge": lb.TargetOnly(boxes),
    }


def without_labels() -> dict[str, Any]:
    members = {name: lb.SourceOnly(model) for name, model in text_members()}
    maps = {
        "neighbours": lb.SourceOnly(neighbours()),
        "SVD, neighbours": lb.SourceOnly(neighbours(TruncatedSVD(50))),
        "LatentMap, neighbours": neighbours(lb.LatentMap(50)),
    }
    return {**members, **maps, **ensembles(text_members(), text_clusters())}


def several_sources() -> dict[str, Any]:
    members = {name: lb.SourceOnly(model) for name, model in text_members()}
    return {**members, **ensembles(text_members(), text_clusters())}


CANDIDATES: dict[str, Callable[[], dict[str, Any]]] = {
    "wine": lambda: {**with_labels(8), **nnge()},
    "reuters": lambda: with_labels(50),
    "newsgroups": without_labels,
    "amazon": several_sources,
}


def run() -> None:
    cells = (
        ({"family": task.family, "task": task.name, "draw": draw}, (task, draw))
        for tasks in (wine, reuters, newsgroups, amazon)
        for task in tasks()
        for draw in range(DRAWS if task.n_labelled else 1)
    )
    with Log(NAME) as log:
        log.run(compare, cells)
    page()


def compare(task: Task, draw: int) -> list[dict[str, Any]]:
    """Accuracy of every method, and the purity of its clusters."""
    order = np.random.default_rng(draw).permutation(task.X_target.shape[0])
    few, rest = order[: task.n_labelled], order[task.n_labelled :]
    labelled = (task.X_target[few], task.y_target[few]) if task.n_labelled else (None, None)
    rows = TransferData(task.X, task.y, *labelled, X_unlabeled=task.X_target[rest])
    lines = []
    for name, candidate in CANDIDATES[task.family]().items():
        model = fit(candidate, rows, task.groups, draw)
        accuracy = (model.predict(task.X_target[rest]) == task.y_target[rest]).mean()
        purity = getattr(model, "purity_", None)
        lines.append({"method": name, "accuracy": round(float(accuracy), 4), "purity": purity})
    return lines


def fit(candidate: Any, rows: TransferData, groups: np.ndarray | None, seed: int) -> Any:
    """With the sources kept apart where there are several and the candidate can tell them."""
    if groups is not None and isinstance(candidate, lb.LocallyWeightedEnsemble):
        candidate.set_params(random_state=seed)
        return candidate.fit(rows.X, rows.y, X_unlabeled=rows.X_unlabeled, groups=groups)
    (only,) = expand_candidates({"candidate": candidate})
    return fit_candidate(only, rows, task="classification", seed=seed)


def page() -> None:
    families = defaultdict(list)
    for line in read(NAME):
        families[line["family"]].append(line)
    parts = ["# " + __doc__.splitlines()[0].rstrip("."), __doc__.split("\n\n", 1)[1].strip()]
    for family, lines in families.items():
        parts += [f"## {family}", table(lines)]
    write_page(NAME, "\n\n".join(parts))


def table(lines: list[dict[str, Any]]) -> str:
    """Mean accuracy ± standard error over the draws; the best of each task in bold."""
    tasks = list(dict.fromkeys(line["task"] for line in lines))
    methods = list(dict.fromkeys(line["method"] for line in lines))
    found = {
        (m, t): np.array([x["accuracy"] for x in lines if (x["method"], x["task"]) == (m, t)])
        for m in methods
        for t in tasks
    }
    best = {t: max(found[m, t].mean() for m in methods) for t in tasks}
    rows = []
    for m in methods:
        means = [found[m, t].mean() for t in tasks]
        words = []
        for t, mean in zip(tasks, means, strict=True):
            word = f"**{mean:.3f}**" if mean == best[t] else f"{mean:.3f}"
            n = found[m, t].size
            words.append(f"{word} ± {found[m, t].std(ddof=1) / n**0.5:.3f}" if n > 1 else word)
        rows.append([m, *words, f"{np.mean(means):.3f}", purity(lines, m)])
    return markdown_table(["method", *tasks, "mean", "purity of the sources' clusters"], rows)


def purity(lines: list[dict[str, Any]], method: str) -> str:
    values = [x["purity"] for x in lines if x["method"] == method and x["purity"] is not None]
    return f"{min(values):.2f} to {max(values):.2f}" if values else ""
