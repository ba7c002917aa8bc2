"""Texts as term counts: Amazon reviews of four products, Reuters across categories."""

from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.io import loadmat
from sklearn.feature_extraction import DictVectorizer
from sklearn.utils import Bunch

from landbridge._docstrings import documented
from landbridge._validation import check_choice
from landbridge.datasets._home import DataFile, DataHome, open_text, require_files

_AMAZON_DOMAINS = ["books", "dvd", "electronics", "kitchen"]
_REUTERS_TASKS = {
    "orgs-people": "OrgsPeople",
    "orgs-places": "OrgsPlaces",
    "people-places": "PeoplePlaces",
}


@documented
def fetch_amazon_reviews(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load term counts of positive and negative Amazon reviews of four kinds of products.

    There are 1000 positive and 1000 negative reviews per domain. Terms are words and pairs of
    words.

    The data are not downloaded: unpack the authors' ``processed_acl.tar.gz`` in the folder
    ``amazon_blitzer`` of
    the data home (files ``processed_acl/<domain>/positive.review`` and ``negative.review``,
    compressed by gzip or not).

    Returns
    -------
    data : Bunch
        ``data`` (CSR matrix of 8000 rows), ``target`` (1 positive, 0 negative), ``domain``
        ("books", "dvd", "electronics", "kitchen"), ``feature_names`` (terms in alphabetical
        order), ``DESCR``.

    References
    ----------
    J. Blitzer, M. Dredze, F. Pereira (2007): Biographies, Bollywood, Boom-boxes and Blenders:
    Domain Adaptation for Sentiment Classification.
    """
    parts = [(domain, sign) for domain in _AMAZON_DOMAINS for sign in ("negative", "positive")]
    paths = require_files(
        [
            DataFile(f"amazon_blitzer/processed_acl/{domain}/{sign}.review")
            for domain, sign in parts
        ],
        data_home,
        download_if_missing,
        "They are files of processed_acl.tar.gz of Blitzer, Dredze and Pereira (2007), to "
        "be unpacked into amazon_blitzer.",
    )
    reviews = [_read_reviews(path) for path in paths]
    vectorizer = DictVectorizer()
    data = vectorizer.fit_transform(terms for part in reviews for terms, _ in part)
    labels = [label for part in reviews for _, label in part]
    return Bunch(
        data=data,
        target=(np.array(labels) == "positive").astype(int),
        domain=np.repeat([domain for domain, _ in parts], [len(part) for part in reviews]),
        feature_names=list(vectorizer.feature_names_),
        DESCR=fetch_amazon_reviews.__doc__,
    )


@documented
def fetch_reuters_crossdomain(
    *,
    task: Literal["orgs-people", "orgs-places", "people-places"] = "orgs-people",
    data_home: DataHome = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load Reuters documents of two top categories, with subcategories as domains.

    The three cross-domain tasks made from Reuters-21578, as term counts without a vocabulary:
    1237/1208 × 4771, 1016/1043 × 4415 and 1077/1077 × 4562 (source and target rows, terms).

    The data are not downloaded: the loader reads the authors' files ``OrgsPeople_src.mat``,
    ``OrgsPeople_tar.mat`` and so on in the folder ``reuters_crossdomain`` of the data home.

    Parameters
    ----------
    task : {"orgs-people", "orgs-places", "people-places"}, default="orgs-people"
        The two top categories to be classified.

    Returns
    -------
    data : Bunch
        ``data`` (CSR matrix), ``target`` (1 or 2, as in the file), ``domain`` ("source" or
        "target"), ``DESCR``.

    References
    ----------
    W. Dai, G.-R. Xue, Q. Yang, Y. Yu (2007): Co-clustering based classification for out-of-domain
    documents. Research use only.
    """
    check_choice(task, "task", list(_REUTERS_TASKS))
    name = _REUTERS_TASKS[task]
    paths = require_files(
        [DataFile(f"reuters_crossdomain/{name}_{part}.mat") for part in ("src", "tar")],
        data_home,
        download_if_missing,
        f"They hold {name}_src_data, {name}_src_label (and tar) of Dai et al. (2007).",
    )
    rows, labels = [], []
    for part, path in zip(("src", "tar"), paths, strict=True):
        arrays = loadmat(path)
        rows.append(sparse.csr_matrix(arrays[f"{name}_{part}_data"], dtype=np.float64))
        labels.append(arrays[f"{name}_{part}_label"].ravel().astype(int))
    return Bunch(
        data=sparse.vstack(rows, format="csr"),
        target=np.concatenate(labels),
        domain=np.repeat(["source", "target"], [len(part) for part in labels]),
        DESCR=fetch_reuters_crossdomain.__doc__,
    )


def _read_reviews(path: Path) -> list[tuple[dict[str, int], str]]:
    """Parse lines ``term:count … #label#:sign`` into term counts and labels."""
    reviews = []
    with open_text(path) as lines:
        for line in lines:
            *terms, (_, label) = (token.rsplit(":", 1) for token in line.split())
            reviews.append(({term: int(count) for term, count in terms}, label))
    return reviews
