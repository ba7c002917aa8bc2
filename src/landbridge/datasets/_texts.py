"""Text datasets: newsgroups, reviews, newswire, web pages."""

import json
import tarfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from landbridge._docstrings import documented
from landbridge.datasets._home import (
    DataFile,
    DataHome,
    find_file,
    get_data_home,
    open_text,
    read_bytes,
    require_files,
)

_NEWSGROUPS = DataFile("20newsgroups/20news-bydate.jsonl")
_NEWSGROUPS_ARCHIVE = DataFile(
    "20newsgroups/20news-bydate.tar.gz",
    sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
    url="https://ndownloader.figshare.com/files/5975967",
)
_REUTERS = DataFile("reuters21578/reuters21578.jsonl")
_SYSKILL = DataFile("syskill_webert/syskill_webert_rated.jsonl")
_REVIEW_DOMAINS = [
    "MR",
    "apparel",
    "baby",
    "books",
    "camera_photo",
    "dvd",
    "electronics",
    "health_personal_care",
    "imdb",
    "kitchen_housewares",
    "magazines",
    "music",
    "software",
    "sports_outdoors",
    "toys_games",
    "video",
]


@documented
def fetch_20newsgroups(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load posts of 20 newsgroups, split by date into training and test sets.

    There are 11314 training and 7532 test posts with their headers. The categories form a tree
    ("rec.autos", "rec.motorcycles"), from which transfer tasks are built: same branch, different
    leaf.

    Returns
    -------
    data : Bunch
        ``data`` (list of 18846 texts), ``target`` (category name), ``split`` ("train" or "test"),
        ``target_names``, ``DESCR``.

    References
    ----------
    K. Lang (1995): NewsWeeder: Learning to Filter Netnews. Research use.
    """
    prepared = find_file(get_data_home(data_home), _NEWSGROUPS)
    (path,) = require_files(
        [_NEWSGROUPS if prepared else _NEWSGROUPS_ARCHIVE],
        data_home,
        download_if_missing,
        "It is the archive of 20 Newsgroups sorted by date; alternatively, the same posts as "
        f"JSON lines with split, category, id and text in {_NEWSGROUPS.path}.gz are accepted.",
    )
    posts = list(_json_lines(path)) if prepared else _archived_posts(path)
    target = np.array([post["category"] for post in posts])
    return Bunch(
        data=[post["text"] for post in posts],
        target=target,
        target_names=np.unique(target).tolist(),
        split=np.array([post["split"] for post in posts]),
        DESCR=fetch_20newsgroups.__doc__,
    )


@documented
def fetch_reviews(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load positive and negative reviews from 16 domains, 14 of products and two of films.

    Each domain has about 1600 training, 400 test and 2000 unlabelled reviews ("software": 475
    unlabelled), tokenised and nearly balanced.

    The data are not downloaded: put the authors' files ``<domain>.task.train``, ``.test`` and
    ``.unlabel``,
    compressed by gzip or not, into the folder ``fdu_mtl`` of the data home.

    Returns
    -------
    data : Bunch
        ``data`` (list of texts), ``target`` (1 positive, 0 negative), ``domain``, ``split``
        ("train" or "test"), ``unlabeled`` (dictionary from domain to texts), ``DESCR``.

    References
    ----------
    P. Liu, X. Qiu, X. Huang (2017): Adversarial Multi-task Learning for Text Classification; the
    product reviews are those of J. Blitzer, M. Dredze, F. Pereira (2007).
    """
    parts = [(d, part) for d in _REVIEW_DOMAINS for part in ("train", "test", "unlabel")]
    paths = require_files(
        [DataFile(f"fdu_mtl/{domain}.task.{part}") for domain, part in parts],
        data_home,
        download_if_missing,
        "They are the FDU-MTL review files of Liu, Qiu and Huang (2017), plain or .gz.",
    )
    texts, target, domains, split = [], [], [], []
    unlabeled: dict[str, list[str]] = {}
    for (domain, part), path in zip(parts, paths, strict=True):
        lines = _lines(path)
        if part == "unlabel":
            unlabeled[domain] = lines
            continue
        for line in lines:
            label, _, text = line.partition("\t")
            target.append(int(label))
            texts.append(text)
        domains += [domain] * len(lines)
        split += [part] * len(lines)
    return Bunch(
        data=texts,
        target=np.array(target),
        domain=np.array(domains),
        split=np.array(split),
        unlabeled=unlabeled,
        DESCR=fetch_reviews.__doc__,
    )


@documented
def fetch_reuters(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load Reuters-21578, newswire documents of 1987 with all their labels.

    The data are not downloaded: the original is a set of SGML files. The loader reads
    ``reuters21578/reuters21578.jsonl.gz`` in the data home, which has one JSON object per document
    with the keys lewissplit, topics, places, people, orgs, exchanges, title and body.

    Returns
    -------
    data : Bunch
        ``data`` (list of texts, title and body), ``target`` and ``topics`` (list of lists of
        topics; a document has any number of them), ``places``, ``people``, ``orgs``, ``exchanges``
        (the same for the other label sets), ``split`` (Lewis's "TRAIN", "TEST" or "NOT-USED"),
        ``documents`` (list of the dictionaries as they are in the file), ``DESCR``.

    References
    ----------
    D. Lewis: Reuters-21578 Text Categorization Collection, Distribution 1.0. Research use only.
    """
    (path,) = require_files(
        [_REUTERS],
        data_home,
        download_if_missing,
        "It has one JSON object per line with lewissplit, topics, places, people, orgs, "
        "exchanges, title and body, made from the SGML files of Reuters-21578.",
    )
    documents = list(_json_lines(path))
    label_sets = {
        name: [document[name] for document in documents]
        for name in ("topics", "places", "people", "orgs", "exchanges")
    }
    return Bunch(
        data=[f"{document['title']}\n{document['body']}" for document in documents],
        target=label_sets["topics"],
        split=np.array([document["lewissplit"] for document in documents]),
        documents=documents,
        DESCR=fetch_reuters.__doc__,
        **label_sets,
    )


@documented
def fetch_syskill_webert(
    *, merge_medium: bool = False, data_home: DataHome = None, download_if_missing: bool = True
) -> Bunch:
    """Load web pages rated hot, medium or cold by one person, with subjects as domains.

    The pages are from 1995: 61 on bands, 131 on biomedicine, 70 on goats and 65 on sheep.

    The data are not downloaded: the original has one file per page. The loader reads
    ``syskill_webert/syskill_webert_rated.jsonl.gz`` in the data home, which has one JSON object per
    rated page with the keys subject, rating, url and html.

    Parameters
    ----------
    merge_medium : bool, default=False
        Whether to replace the few "medium" ratings by "cold", as is usual.

    Returns
    -------
    data : Bunch
        ``data`` (list of 327 texts without markup), ``html`` (the pages), ``target`` (rating),
        ``domain`` (subject), ``url``, ``DESCR``.

    References
    ----------
    M. Pazzani (1998): Syskill and Webert Web Page Ratings. UCI Machine Learning Repository,
    CC BY 4.0.
    """
    (path,) = require_files(
        [_SYSKILL],
        data_home,
        download_if_missing,
        "It has one JSON object per line with subject, rating, url and html, made from the "
        "UCI repository's Syskill and Webert data.",
    )
    pages = list(_json_lines(path))
    rating = np.array([page["rating"] for page in pages])
    return Bunch(
        data=[_visible_text(page["html"]) for page in pages],
        html=[page["html"] for page in pages],
        target=np.where(rating == "medium", "cold", rating) if merge_medium else rating,
        domain=np.array([page["subject"] for page in pages]),
        url=[page["url"] for page in pages],
        DESCR=fetch_syskill_webert.__doc__,
    )


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with open_text(path) as lines:
        for line in lines:
            yield json.loads(line)


def _archived_posts(path: Path) -> list[dict[str, Any]]:
    """Posts of an archive of files ``20news-bydate-<split>/<category>/<id>``."""
    posts = {}
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                folder, category, number = member.name.split("/")[-3:]
                split = folder.rsplit("-", 1)[-1]
                post = {
                    "split": split,
                    "category": category,
                    "text": content.read().decode("latin-1"),
                }
                posts[split != "train", category, number] = post
    return [posts[key] for key in sorted(posts)]


def _lines(path: Path) -> list[str]:
    """Lines of a UTF-8 file that contains a few latin-1 lines."""
    lines = read_bytes(path).splitlines()
    return [_decode(line).rstrip(" ") for line in lines]


def _decode(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


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
