"""Datasets of the papers in files that were prepared from the originals, or without domains.

The files are in the data home (`landbridge.datasets.get_data_home`); each docstring says which.
"""

import gzip
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from landbridge.datasets import get_data_home

OFFICE_DOMAINS = {"caltech": "caltech10", "amazon": "amazon", "webcam": "webcam", "dslr": "dslr"}


def fetch_20newsgroups() -> Bunch:
    """Posts of 20 newsgroups (K. Lang, 1995) with their headers, split by date.

    ``20newsgroups/20news-bydate.jsonl.gz``: one object per post with split, category, id, text.
    """
    posts = _json_lines("20newsgroups/20news-bydate.jsonl.gz")
    return Bunch(
        data=[post["text"] for post in posts],
        target=np.array([post["category"] for post in posts]),
        split=np.array([post["split"] for post in posts]),
    )


def fetch_cifar10() -> Bunch:
    """1500 photographs of each of ten classes (A. Krizhevsky, 2009).

    ``cifar10/cifar10_subset.npz``: X_train, y_train, X_test, y_test.
    """
    return _images("cifar10/cifar10_subset.npz")


def fetch_mnist() -> Bunch:
    """Handwritten digits of 28 × 28 pixels (Y. LeCun, C. Cortes, C. Burges).

    ``mnist/mnist.npz``: x_train, y_train, x_test, y_test.
    """
    return _images("mnist/mnist.npz")


def fetch_office_caltech() -> Bunch:
    """Histograms of 800 visual words for ten classes of objects (B. Gong et al., 2012).

    ``office_caltech10_surf/office_caltech10_surf.npz``: ``<domain>_X`` and ``<domain>_y``.
    """
    with np.load(_path("office_caltech10_surf/office_caltech10_surf.npz")) as arrays:
        rows = {name: arrays[f"{key}_X"] for name, key in OFFICE_DOMAINS.items()}
        labels = [arrays[f"{key}_y"].astype(int).ravel() for key in OFFICE_DOMAINS.values()]
    return Bunch(
        data=np.vstack(list(rows.values())),
        target=np.concatenate(labels),
        domain=np.repeat(list(rows), [len(part) for part in rows.values()]),
    )


def fetch_syskill_webert(*, merge_medium: bool = False) -> Bunch:
    """Web pages of four subjects rated hot, medium or cold (M. Pazzani, 1998), as visible text.

    ``syskill_webert/syskill_webert_rated.jsonl.gz``: subject, rating, url, html. With
    ``merge_medium`` the few "medium" ratings become "cold".
    """
    pages = _json_lines("syskill_webert/syskill_webert_rated.jsonl.gz")
    rating = np.array([page["rating"] for page in pages])
    return Bunch(
        data=[_visible_text(page["html"]) for page in pages],
        target=np.where(rating == "medium", "cold", rating) if merge_medium else rating,
        domain=np.array([page["subject"] for page in pages]),
    )


def fetch_wifi() -> Bunch:
    """Signals of 99 access points in two periods (ICDM 2007 contest; Y. Xu et al., 2017).

    ``wifi_icdm2007/wifi_icdm2007_tr_99.npz``: src_X, src_labels, tar_train_X, tar_train_labels,
    tar_test_X, tar_test_labels, with one row per feature.
    """
    with np.load(_path("wifi_icdm2007/wifi_icdm2007_tr_99.npz")) as arrays:
        parts = {
            part: (arrays[f"{part}_X"].T.astype(float), arrays[f"{part}_labels"].astype(float))
            for part in ("src", "tar_train", "tar_test")
        }
    (X, y), (X_target, y_target), (X_test, y_test) = parts.values()
    return Bunch(X=X, y=y, X_target=X_target, y_target=y_target, X_test=X_test, y_test=y_test)


def _path(name: str) -> Path:
    path = get_data_home() / name
    if not path.is_file():
        raise OSError(f"The data home must contain {name}; not found in {get_data_home()}.")
    return path


def _json_lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(_path(name), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _images(name: str) -> Bunch:
    with np.load(_path(name)) as file:
        # Copies of the file differ in the case of the array names.
        arrays = {array.lower(): file[array] for array in file.files}
    images = [arrays["x_train"], arrays["x_test"]]
    return Bunch(
        data=np.vstack([part.reshape(len(part), -1) for part in images]),
        target=np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(int),
        split=np.repeat(["train", "test"], [len(part) for part in images]),
    )


class _TextOnly(HTMLParser):
    """Collects the visible text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style") and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words += data.split()


def _visible_text(html: str) -> str:
    parser = _TextOnly()
    parser.feed(html)
    parser.close()
    return " ".join(parser.words)
