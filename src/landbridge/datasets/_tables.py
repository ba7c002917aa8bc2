"""Tables with natural domains: wines by colour, abalones by sex, bike rentals by year."""

import csv
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from landbridge._docstrings import documented
from landbridge.datasets._home import UCI, DataFile, DataHome, open_text, require_files

_WINE = {
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
_ABALONE = DataFile(
    "abalone/abalone.data",
    sha256="de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f",
    url=f"{UCI}/abalone/abalone.data",
)
_ABALONE_FEATURES = [
    "length",
    "diameter",
    "height",
    "whole weight",
    "shucked weight",
    "viscera weight",
    "shell weight",
]
_BIKE = DataFile(
    "bike_sharing/hour.csv",
    sha256="e03de4ee4ef4dc376ac6e04bf829673c6269e8eba5c60fa121640fa2f829504f",
    url=f"{UCI}/00275/Bike-Sharing-Dataset.zip",
    member="hour.csv",
)
_BIKE_FEATURES = [
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
        list(_WINE.values()),
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
        domain=np.repeat(list(_WINE), [len(part) for part in tables]),
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
        [_ABALONE], data_home, download_if_missing, "It is the UCI repository's Abalone data."
    )
    with open_text(path) as lines:
        rows = [row for row in csv.reader(lines) if row]
    return Bunch(
        data=np.array([row[1:-1] for row in rows], dtype=np.float64),
        target=np.array([row[-1] for row in rows], dtype=int),
        domain=np.array([row[0] for row in rows]),
        feature_names=list(_ABALONE_FEATURES),
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
        [_BIKE],
        data_home,
        download_if_missing,
        "It is the hourly table of the UCI repository's Bike Sharing data.",
    )
    names, rows = _read_csv(path)
    column = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    return Bunch(
        data=np.array([column[name] for name in _BIKE_FEATURES], dtype=np.float64).T.copy(),
        target=np.array(column["cnt"], dtype=int),
        domain=np.where(np.array(column["yr"]) == "0", "2011", "2012"),
        season=np.array(column["season"], dtype=int),
        date=np.array(column["dteday"]),
        feature_names=list(_BIKE_FEATURES),
        DESCR=fetch_bike_sharing.__doc__,
    )


def _read_csv(path: Path, *, delimiter: str = ",") -> tuple[list[str], list[list[str]]]:
    with open_text(path) as lines:
        header, *rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    return header, rows
