"""Public datasets with natural domains, in the form in which their authors publish them."""

import csv
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.io import loadmat
from sklearn.feature_extraction import DictVectorizer
from sklearn.utils import Bunch

from landbridge._docstrings import documented
from landbridge._validation import check_choice
from landbridge.datasets._files import DataFile, DataHome, open_text, read_bytes, require_files

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
WINE = {
    "red": DataFile(
        "wine_quality/winequality-red.csv",
        sha256="4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
        url=f"{UCI}/wine-quality/winequality-red.csv",
    ),
    "white": DataFile(
        "wine_quality/winequality-white.csv",
        sha256="76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
        url=f"{UCI}/wine-quality/winequality-white.csv",
    ),
}
ABALONE = DataFile(
    "abalone/abalone.data",
    sha256="de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f",
    url=f"{UCI}/abalone/abalone.data",
)
BIKE = DataFile(
    "bike_sharing/hour.csv",
    sha256="e03de4ee4ef4dc376ac6e04bf829673c6269e8eba5c60fa121640fa2f829504f",
    url=f"{UCI}/00275/Bike-Sharing-Dataset.zip",
    member="hour.csv",
)
UJI = {
    "train": DataFile(
        "ujiindoorloc/trainingData.csv",
        sha256="45ca0128bd12019c976bb4793e407c979c82995d7a5940ab7288620247905168",
        url=f"{UCI}/00310/UJIndoorLoc.zip",
        member="UJIndoorLoc/trainingData.csv",
    ),
    "test": DataFile(
        "ujiindoorloc/validationData.csv",
        sha256="5f90c536648cd657b2c516d20c4e0968d4003279ea6bd5d5d5322d3f1e8905c0",
        url=f"{UCI}/00310/UJIndoorLoc.zip",
        member="UJIndoorLoc/validationData.csv",
    ),
}
AMAZON = {
    (domain, sign): DataFile(f"amazon_blitzer/processed_acl/{domain}/{sign}.review")
    for domain in ("books", "dvd", "electronics", "kitchen")
    for sign in ("negative", "positive")
}
REVIEW_DOMAINS = [
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
REVIEWS = {
    (domain, part): DataFile(f"fdu_mtl/{domain}.task.{part}")
    for domain in REVIEW_DOMAINS
    for part in ("train", "test", "unlabel")
}
REUTERS = {
    "orgs-people": "OrgsPeople",
    "orgs-places": "OrgsPlaces",
    "people-places": "PeoplePlaces",
}
ABALONE_FEATURES = [
    "length",
    "diameter",
    "height",
    "whole weight",
    "shucked weight",
    "viscera weight",
    "shell weight",
]
BIKE_FEATURES = [
    "season",
    "mnth",
    "hr",
    "holiday",
    "weekday",
    "workingday",
    "weathersit",
    "temp",
    "atemp",
    "hum",
    "windspeed",
]
N_ACCESS_POINTS = 520
NOT_RECEIVED = -105.0


@documented
def fetch_wine_quality(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load quality scores of Portuguese Vinho Verde wines, with the colour as the domain.

    There are 1599 red and 4898 white wines with 11 physicochemical measurements and the median
    score of three tasters, from 3 to 9.

    Returns
    -------
    data : Bunch
        ``data`` (6497, 11), ``target`` (integers), ``domain`` ("red" or "white"),
        ``feature_names``, ``DESCR``.

    References
    ----------
    P. Cortez, A. Cerdeira, F. Almeida, T. Matos, J. Reis (2009): Modeling wine preferences by data
    mining from physicochemical properties. UCI Machine Learning Repository, CC BY 4.0.
    """
    paths = require_files(
        list(WINE.values()),
        data_home,
        download_if_missing,
        "They are the UCI repository's Wine Quality data.",
    )
    read = [_read_csv(path, delimiter=";") for path in paths]
    names, tables = read[0][0], [np.array(rows, dtype=np.float64) for _, rows in read]
    table = np.vstack(tables)
    return Bunch(
        data=table[:, :-1],
        target=table[:, -1].astype(int),
        domain=np.repeat(list(WINE), [len(part) for part in tables]),
        feature_names=names[:-1],
        DESCR=fetch_wine_quality.__doc__,
    )


@documented
def fetch_abalone(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load the number of rings (age) of abalones, with the sex as the domain.

    There are 4177 abalones with seven measurements: 1528 "M", 1307 "F", 1342 "I" (infant). The sex
    is not among the features.

    Returns
    -------
    data : Bunch
        ``data`` (4177, 7), ``target`` (number of rings), ``domain`` ("M", "F" or "I"),
        ``feature_names``, ``DESCR``.

    References
    ----------
    W. Nash, T. Sellers, S. Talbot, A. Cawthorn, W. Ford (1994): The Population Biology of Abalone
    in Tasmania. UCI Machine Learning Repository, CC BY 4.0.
    """
    (path,) = require_files(
        [ABALONE], data_home, download_if_missing, "It is the UCI repository's Abalone data."
    )
    with open_text(path) as lines:
        rows = [row for row in csv.reader(lines) if row]
    return Bunch(
        data=np.array([row[1:-1] for row in rows], dtype=np.float64),
        target=np.array([row[-1] for row in rows], dtype=int),
        domain=np.array([row[0] for row in rows]),
        feature_names=list(ABALONE_FEATURES),
        DESCR=fetch_abalone.__doc__,
    )


@documented
def fetch_bike_sharing(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load hourly bike rentals in Washington, D.C., with the year as the domain.

    There are 17379 hours of 2011 and 2012 with calendar and weather data. The two parts of the
    count, casual and registered users, are left out of the features, since they add up to the
    target.

    Returns
    -------
    data : Bunch
        ``data`` (17379, 11), ``target`` (rentals in the hour), ``domain`` ("2011" or "2012"),
        ``season`` (1 to 4, also a feature), ``date`` (ISO format), ``feature_names``, ``DESCR``.

    References
    ----------
    H. Fanaee-T, J. Gama (2013): Event labeling combining ensemble detectors and background
    knowledge. UCI Machine Learning Repository, CC BY 4.0.
    """
    (path,) = require_files(
        [BIKE],
        data_home,
        download_if_missing,
        "It is the hourly table of the UCI repository's Bike Sharing data.",
    )
    names, rows = _read_csv(path)
    column = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    return Bunch(
        data=np.array([column[name] for name in BIKE_FEATURES], dtype=np.float64).T.copy(),
        target=np.array(column["cnt"], dtype=int),
        domain=np.where(np.array(column["yr"]) == "0", "2011", "2012"),
        season=np.array(column["season"], dtype=int),
        date=np.array(column["dteday"]),
        feature_names=list(BIKE_FEATURES),
        DESCR=fetch_bike_sharing.__doc__,
    )


@documented
def fetch_ujiindoorloc(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load WiFi signals of 520 access points in three buildings, with the phone as the domain.

    19937 training rows were recorded by 18 users with 16 phones, and 1111 validation rows months
    later with 11 phones, 9 of them new. Signals are between -104 dBm and 0 dBm. The file marks
    access points that were not received with +100, which the loader replaces by -105, 1 dBm below
    the weakest signal.

    Returns
    -------
    data : Bunch
        ``data`` (21048, 520); ``target`` (21048, 4) with the columns ``target_names``: building,
        floor, longitude, latitude; ``domain`` (phone, as text), ``user`` (0 in the validation rows,
        where it is unknown), ``building``, ``floor``, ``split`` ("train" or "test"),
        ``feature_names``, ``DESCR``.

    References
    ----------
    J. Torres-Sospedra et al. (2014): UJIIndoorLoc: a new multi-building and multi-floor database
    for WLAN fingerprint-based indoor localization problems. UCI repository, CC BY 4.0.
    """
    paths = require_files(
        list(UJI.values()),
        data_home,
        download_if_missing,
        "They are the two tables of the UCI repository's UJIIndoorLoc data.",
    )
    read = [_read_numbers(path) for path in paths]
    names, tables = read[0][0], [numbers for _, numbers in read]
    table = np.vstack(tables)
    signals = table[:, :N_ACCESS_POINTS]
    column = {name: table[:, k] for k, name in enumerate(names)}
    targets = ["BUILDINGID", "FLOOR", "LONGITUDE", "LATITUDE"]
    return Bunch(
        data=np.where(signals == 100, NOT_RECEIVED, signals),
        target=np.column_stack([column[name] for name in targets]),
        target_names=["building", "floor", "longitude", "latitude"],
        domain=column["PHONEID"].astype(int).astype(str),
        user=column["USERID"].astype(int),
        building=column["BUILDINGID"].astype(int),
        floor=column["FLOOR"].astype(int),
        split=np.repeat(list(UJI), [len(part) for part in tables]),
        feature_names=names[:N_ACCESS_POINTS],
        DESCR=fetch_ujiindoorloc.__doc__,
    )


@documented
def fetch_amazon_reviews(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load term counts of positive and negative Amazon reviews of four kinds of products.

    There are 1000 positive and 1000 negative reviews per domain. Terms are words and pairs of
    words.

    The data are not downloaded: unpack the authors' ``processed_acl.tar.gz`` in the folder
    ``amazon_blitzer`` of the data home (files ``processed_acl/<domain>/positive.review`` and
    ``negative.review``, compressed by gzip or not).

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
    paths = require_files(
        list(AMAZON.values()),
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
        domain=np.repeat([domain for domain, _ in AMAZON], [len(part) for part in reviews]),
        feature_names=list(vectorizer.feature_names_),
        DESCR=fetch_amazon_reviews.__doc__,
    )


@documented
def fetch_reviews(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load positive and negative reviews from 16 domains, 14 of products and two of films.

    Each domain has about 1600 training, 400 test and 2000 unlabelled reviews ("software": 475
    unlabelled), tokenised and nearly balanced.

    The data are not downloaded: put the authors' files ``<domain>.task.train``, ``.test`` and
    ``.unlabel``, compressed by gzip or not, into the folder ``fdu_mtl`` of the data home.

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
    paths = require_files(
        list(REVIEWS.values()),
        data_home,
        download_if_missing,
        "They are the FDU-MTL review files of Liu, Qiu and Huang (2017), plain or .gz.",
    )
    texts, target, domains, split = [], [], [], []
    unlabeled: dict[str, list[str]] = {}
    for (domain, part), path in zip(REVIEWS, paths, strict=True):
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
    check_choice(task, "task", list(REUTERS))
    name = REUTERS[task]
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


def _read_csv(path: Path, *, delimiter: str = ",") -> tuple[list[str], list[list[str]]]:
    with open_text(path) as lines:
        header, *rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    return header, rows


def _read_numbers(path: Path) -> tuple[list[str], np.ndarray]:
    with open_text(path) as lines:
        names = next(lines).strip().split(",")
        return names, np.loadtxt(lines, delimiter=",", ndmin=2)


def _read_reviews(path: Path) -> list[tuple[dict[str, int], str]]:
    """Parse lines ``term:count … #label#:sign`` into term counts and labels."""
    reviews = []
    with open_text(path) as lines:
        for line in lines:
            *terms, (_, label) = (token.rsplit(":", 1) for token in line.split())
            reviews.append(({term: int(count) for term, count in terms}, label))
    return reviews


def _lines(path: Path) -> list[str]:
    """Lines of a UTF-8 file that contains a few latin-1 lines."""
    lines = []
    for line in read_bytes(path).splitlines():
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            text = line.decode("latin-1")
        lines.append(text.rstrip(" "))
    return lines
