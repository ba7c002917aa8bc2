"""The datasets of Tables 2 and 3 of Zhong et al., at the paper's sizes.

Text has the 500 terms of highest information gain about the source's labels, as counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

from landbridge import datasets

N_TERMS = 500
# Table 3: pairs of leaves that form each source, and the target.
SOURCE_SELECTION = {
    "comp-rec": (
        {
            "windows-motorcycles": ("comp.windows.x", "rec.motorcycles"),
            "pc.hardware-baseball": ("comp.sys.ibm.pc.hardware", "rec.sport.baseball"),
            "mac.hardware-hockey": ("comp.sys.mac.hardware", "rec.sport.hockey"),
        },
        ("comp.graphics", "rec.autos"),
    ),
    "sci-talk": (
        {
            "crypt-guns": ("sci.crypt", "talk.politics.guns"),
            "med-misc": ("sci.med", "talk.politics.misc"),
            "space-religion": ("sci.space", "talk.religion.misc"),
        },
        ("sci.electronics", "talk.politics.mideast"),
    ),
}


@dataclass(frozen=True)
class PaperTask:
    """Source rows with the source of each, and target rows; dense arrays."""

    name: str
    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    X_target: np.ndarray
    y_target: np.ndarray


def table_2() -> Iterator[PaperTask]:
    """Wine in both directions, three Reuters and three Syskill & Webert tasks."""
    wine = datasets.fetch_wine_quality()
    rows = StandardScaler().fit_transform(wine.data)
    good = (wine.target >= 6).astype(int)
    for name, source in (("RW", "red"), ("WR", "white")):
        yield _task(name, rows, good, wine.domain == source)
    for name, key in (("ope", "orgs-people"), ("opl", "orgs-places"), ("pp", "people-places")):
        data = datasets.fetch_reuters_crossdomain(task=key)
        source = data.domain == "source"
        yield _task(name, _top_terms(data.data, data.target, source), data.target, source)
    pages = datasets.fetch_syskill_webert(merge_medium=True)
    counts = CountVectorizer(stop_words="english", min_df=2).fit_transform(pages.data)
    for name, subject in (("Sp", "Sheep"), ("Bl", "BioMedical"), ("Gs", "Goats")):
        keep = np.isin(pages.domain, ("Bands", subject))
        source = pages.domain[keep] == "Bands"
        labels = pages.target[keep]
        yield _task(name, _top_terms(counts[keep], labels, source), labels, source)


def table_3() -> Iterator[PaperTask]:
    """Two tasks with three sources each from 20 newsgroups."""
    data = datasets.fetch_20newsgroups()
    texts = np.array(data.data, dtype=object)
    for name, (sources, target) in SOURCE_SELECTION.items():
        group = {leaf: key for key, leaves in sources.items() for leaf in leaves}
        group |= dict.fromkeys(target, "target")
        keep = np.isin(data.target, list(group))
        groups = np.array([group[leaf] for leaf in data.target[keep]])
        branch = np.array([leaf.partition(".")[0] for leaf in data.target[keep]])
        counts = CountVectorizer(stop_words="english", min_df=3).fit_transform(texts[keep])
        rows = _top_terms(counts, branch, groups != "target")
        yield _task(name, rows, branch, groups != "target", groups)


def _task(
    name: str, X: np.ndarray, y: np.ndarray, source: np.ndarray, groups: np.ndarray | None = None
) -> PaperTask:
    groups = np.full(len(y), "source") if groups is None else groups
    return PaperTask(name, X[source], y[source], groups[source], X[~source], y[~source])


def _top_terms(counts: sparse.csr_matrix, y: np.ndarray, source: np.ndarray) -> np.ndarray:
    """log(1 + count) of the terms whose presence tells most about the source's labels."""
    counts = sparse.csr_matrix(counts)
    gain = information_gain(counts[source] > 0, y[source])
    return np.log1p(counts[:, np.sort(np.argsort(-gain)[:N_TERMS])].toarray())


def information_gain(present: sparse.csr_matrix, y: np.ndarray) -> np.ndarray:
    """Entropy of the labels minus their entropy given presence or absence of each term."""
    n = len(y)
    classes = np.unique(y)
    with_term = np.array([np.asarray(present[y == c].sum(axis=0)).ravel() for c in classes])
    totals = np.array([[np.sum(y == c)] for c in classes])

    def entropy(counts: np.ndarray) -> np.ndarray:
        share = counts / np.maximum(counts.sum(axis=0), 1)
        return -np.sum(share * np.log2(np.where(share > 0, share, 1)), axis=0)

    there = with_term.sum(axis=0) / n
    return entropy(totals) - there * entropy(with_term) - (1 - there) * entropy(totals - with_term)
