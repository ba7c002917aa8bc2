"""Transfer tasks from the real datasets that have natural domains, as plain arrays.

A task is a pair of domains. Text is reduced to 100 dimensions (TF-IDF, then a truncated SVD of the
rows of both domains), other columns are standardised over both domains; labels are never used.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from landbridge import datasets

MOST_SOURCE, MOST_TARGET, MOST_TEST = 800, 800, 1000
NEWSGROUP_TASKS = {
    "comp-rec": (
        ("comp.graphics", "comp.sys.mac.hardware", "rec.autos", "rec.sport.baseball"),
        ("comp.os.ms-windows.misc", "comp.windows.x", "rec.motorcycles", "rec.sport.hockey"),
    ),
    "comp-sci": (
        ("comp.graphics", "comp.os.ms-windows.misc", "sci.crypt", "sci.electronics"),
        ("comp.sys.ibm.pc.hardware", "comp.windows.x", "sci.med", "sci.space"),
    ),
    "comp-talk": (
        ("comp.graphics", "comp.sys.mac.hardware", "talk.politics.mideast", "talk.religion.misc"),
        ("comp.os.ms-windows.misc", "comp.windows.x", "talk.politics.guns", "talk.politics.misc"),
    ),
    "rec-sci": (
        ("rec.autos", "rec.sport.baseball", "sci.med", "sci.space"),
        ("rec.motorcycles", "rec.sport.hockey", "sci.crypt", "sci.electronics"),
    ),
    "rec-talk": (
        ("rec.autos", "rec.motorcycles", "talk.politics.guns", "talk.politics.misc"),
        ("rec.sport.baseball", "rec.sport.hockey", "talk.politics.mideast", "talk.religion.misc"),
    ),
    "sci-talk": (
        ("sci.electronics", "sci.med", "talk.politics.misc", "talk.religion.misc"),
        ("sci.crypt", "sci.space", "talk.politics.guns", "talk.politics.mideast"),
    ),
}


@dataclass(frozen=True)
class DomainTask:
    """Rows of two domains."""

    dataset: str
    name: str
    X: np.ndarray
    y: np.ndarray
    X_target: np.ndarray
    y_target: np.ndarray


@dataclass(frozen=True)
class Draw:
    """A random part of a task: source, target rows (the first are the labelled ones), test."""

    X: np.ndarray
    y: np.ndarray
    X_target: np.ndarray
    y_target: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def draw_rows(task: DomainTask, seed: int) -> Draw:
    """At most 800 source rows; of the target at most 800 to learn from, at most 1000 to test."""
    rng = np.random.default_rng(seed)
    source = rng.permutation(len(task.y))[:MOST_SOURCE]
    target = rng.permutation(len(task.y_target))
    n_target = min(MOST_TARGET, int(0.6 * target.size))
    test = target[n_target : n_target + MOST_TEST]
    target = target[:n_target]
    return Draw(
        task.X[source],
        task.y[source],
        task.X_target[target],
        task.y_target[target],
        task.X_target[test],
        task.y_target[test],
    )


def all_tasks() -> Iterator[DomainTask]:
    """Every task, dataset by dataset."""
    for dataset in (wine, bike, reuters, newsgroups, wifi, office, amazon, reviews):
        yield from dataset()


def further_tasks() -> Iterator[DomainTask]:
    """More datasets and pairs, on which nothing was developed."""
    yield from abalone()
    yield from syskill()
    yield from wifi(other_phones=True)
    for step in (5, 9):
        yield from reviews(step=step, dataset="reviews, other pairs")


def wine() -> Iterator[DomainTask]:
    """Good wine (6 and better) of the other colour."""
    data = datasets.fetch_wine_quality()
    yield from pairs("wine", data.data, (data.target >= 6).astype(int), data.domain)


def bike() -> Iterator[DomainTask]:
    """Hours with many rentals (above the median of both years) in the other year."""
    data = datasets.fetch_bike_sharing()
    label = (data.target > np.median(data.target)).astype(int)
    yield from pairs("bike", data.data, label, data.domain)


def reuters(*, scale: bool = True) -> Iterator[DomainTask]:
    """Top categories told apart by other subcategories, in both directions."""
    for name in ("orgs-people", "orgs-places", "people-places"):
        data = datasets.fetch_reuters_crossdomain(task=name)
        rows = _reduced(TfidfTransformer(sublinear_tf=True).fit_transform(data.data))
        yield from pairs("reuters", rows, data.target, data.domain, prefix=f"{name} ", scale=scale)


def newsgroups(*, scale: bool = True) -> Iterator[DomainTask]:
    """Branches of the tree told apart by other leaves, in both directions."""
    data = datasets.fetch_20newsgroups()
    texts = np.array(data.data, dtype=object)
    for name, (first, second) in NEWSGROUP_TASKS.items():
        keep = np.flatnonzero(np.isin(data.target, (*first, *second)))
        keep = np.random.default_rng(0).permutation(keep)[:4000]
        rows = _reduced(_tfidf(texts[keep]))
        branch = np.array([category.partition(".")[0] for category in data.target[keep]])
        domain = np.where(np.isin(data.target[keep], first), "first", "second")
        yield from pairs("newsgroups", rows, branch, domain, prefix=f"{name} ", scale=scale)


def wifi(*, other_phones: bool = False) -> Iterator[DomainTask]:
    """Building and floor from signal strengths measured with another phone.

    Phones that were in the same four places with 300 rows each, or other pairs of phones: three
    places and 150 rows.
    """
    data = datasets.fetch_ujiindoorloc()
    label = data.building * 10 + data.floor
    phones, counts = np.unique(data.domain, return_counts=True)
    phones = sorted(phones[counts >= 200], key=lambda phone: -counts[phones == phone][0])
    for a, b in [(a, b) for a, b in permutations(phones, 2)]:
        places = np.intersect1d(label[data.domain == a], label[data.domain == b])
        keep = np.isin(data.domain, (a, b)) & np.isin(label, places)
        fewest = min(np.sum(data.domain[keep] == phone) for phone in (a, b))
        strict = places.size >= 4 and fewest >= 300
        if strict == other_phones or places.size < 3 or fewest < 150:
            continue
        rows = TruncatedSVD(50, random_state=0).fit_transform(data.data[keep] + 105.0)
        name = "wifi, other phones" if other_phones else "wifi"
        both = pairs(name, rows, label[keep], data.domain[keep], prefix="phone ")
        yield next(task for task in both if task.name == f"phone {a} to {b}")


def office() -> Iterator[DomainTask]:
    """Objects photographed elsewhere."""
    data = datasets.fetch_office_caltech()
    shares = data.data / data.data.sum(axis=1, keepdims=True)
    rows = TruncatedSVD(100, random_state=0).fit_transform(StandardScaler().fit_transform(shares))
    yield from pairs("office", rows, data.target, data.domain)


def amazon(*, scale: bool = True) -> Iterator[DomainTask]:
    """Sentiment of reviews of another kind of product."""
    data = datasets.fetch_amazon_reviews()
    frequent = np.asarray((data.data > 0).sum(axis=0)).ravel() >= 10
    counts = data.data[:, np.flatnonzero(frequent)]
    rows = _reduced(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
    yield from pairs("amazon", rows, data.target, data.domain, scale=scale)


def reviews(*, step: int = 1, dataset: str = "reviews", scale: bool = True) -> Iterator[DomainTask]:
    """Sentiment in 16 domains; each is the source of the one ``step`` places down the alphabet."""
    data = datasets.fetch_reviews()
    rows = _reduced(_tfidf(data.data))
    names = np.unique(data.domain)
    for a, b in zip(names, np.roll(names, -step), strict=True):
        keep = np.isin(data.domain, (a, b))
        both = pairs(dataset, rows[keep], data.target[keep], data.domain[keep], scale=scale)
        yield next(task for task in both if task.name == f"{a} to {b}")


def abalone() -> Iterator[DomainTask]:
    """Old animals (10 rings and more) of another sex; most infants are young."""
    data = datasets.fetch_abalone()
    yield from pairs("abalone", data.data, (data.target >= 10).astype(int), data.domain)


def syskill() -> Iterator[DomainTask]:
    """Web pages that one person found hot, on another subject."""
    data = datasets.fetch_syskill_webert()
    rows = _reduced(_tfidf(data.data))
    yield from pairs("syskill", rows, (data.target == "hot").astype(int), data.domain)


def pairs(
    dataset: str,
    X: np.ndarray,
    y: np.ndarray,
    domain: np.ndarray,
    *,
    prefix: str = "",
    scale: bool = True,
) -> Iterator[DomainTask]:
    """Every ordered pair of domains, standardised over both unless ``scale`` is False."""
    for a, b in permutations(np.unique(domain), 2):
        source, target = domain == a, domain == b
        scaler = StandardScaler(with_mean=scale, with_std=scale).fit(X[source | target])
        yield DomainTask(
            dataset,
            f"{prefix}{a} to {b}",
            scaler.transform(X[source]),
            y[source],
            scaler.transform(X[target]),
            y[target],
        )


def _tfidf(texts: list[str]) -> np.ndarray:
    return TfidfVectorizer(
        sublinear_tf=True, min_df=3, max_df=0.5, stop_words="english"
    ).fit_transform(texts)


def _reduced(rows: np.ndarray) -> np.ndarray:
    return TruncatedSVD(100, random_state=0).fit_transform(rows)
