"""Embedded sample of cars from 1970 to 1982 and three regions."""

import csv
from importlib import resources
from typing import Literal

import numpy as np
from sklearn.utils import Bunch

from landbridge._validation import check_choice

_FEATURES = [
    "cylinders",
    "displacement",
    "horsepower",
    "weight",
    "acceleration",
    "model_year",
]


def load_auto_mpg(
    *,
    task: Literal["regression", "classification"] = "regression",
    missing: Literal["drop", "keep"] = "drop",
    as_frame: bool = False,
) -> Bunch:
    """Fuel consumption of cars, with the origin of the car as the domain.

    There are 398 cars of the model years 1970 to 1982: 249 from the USA, 70 from Europe, 79 from
    Japan. The horsepower of 6 cars is unknown (4 from the USA, 2 from Europe). American cars of
    that time are larger, so a model trained on them has seen few light cars (covariate shift). With
    the same measurements, a Japanese car also goes farther per gallon (concept shift).

    Parameters
    ----------
    task : {"regression", "classification"}, default="regression"
        The target is miles per gallon, or whether a car goes farther than the median of all 398
        cars, 23 miles per gallon ("high" or "low").
    missing : {"drop", "keep"}, default="drop"
        Whether to drop the 6 cars of unknown horsepower, which leaves 392, or to keep them with
        NaN.
    as_frame : bool, default=False
        Return ``data`` and ``target`` as pandas objects (needs pandas).

    Returns
    -------
    data : Bunch
        ``data`` (392, 6), ``target``, ``domain`` ("USA", "Europe", "Japan"), ``feature_names``,
        ``target_name``, ``car`` (names of the cars), ``DESCR``.

    References
    ----------
    R. Quinlan (1993): Combining Instance-Based and Model-Based Learning. Auto MPG, UCI Machine
    Learning Repository, CC BY 4.0; it comes from the StatLib library of Carnegie Mellon
    University and was used in the 1983 exposition of the American Statistical Association. This
    copy contains the 398 cars with known consumption; the origin is a name and the year has four
    digits.

    Examples
    --------
    >>> from landbridge.datasets import load_auto_mpg
    >>> cars = load_auto_mpg()
    >>> cars.data.shape
    (392, 6)
    >>> {str(origin): int((cars.domain == origin).sum()) for origin in ("USA", "Europe", "Japan")}
    {'USA': 245, 'Europe': 68, 'Japan': 79}
    """
    check_choice(task, "task", ["regression", "classification"])
    check_choice(missing, "missing", ["drop", "keep"])
    file = resources.files("landbridge.datasets") / "samples" / "auto_mpg.csv"
    with file.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    mpg = np.array([float(row["mpg"]) for row in rows])
    far = np.where(mpg > np.median(mpg), "high", "low")
    data = np.array([[float(row[name] or "nan") for name in _FEATURES] for row in rows])
    kept = ~np.isnan(data).any(axis=1) if missing == "drop" else np.ones(len(rows), dtype=bool)
    cars = Bunch(
        data=data[kept],
        target=(mpg if task == "regression" else far)[kept],
        domain=np.array([row["origin"] for row in rows])[kept],
        car=np.array([row["name"] for row in rows])[kept],
        feature_names=list(_FEATURES),
        target_name="mpg" if task == "regression" else "consumption",
        DESCR=load_auto_mpg.__doc__,
    )
    return _with_frames(cars) if as_frame else cars


def _with_frames(cars: Bunch) -> Bunch:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "`as_frame=True` needs pandas, which is not installed. Install it with "
            "`pip install pandas`, or use as_frame=False."
        ) from error
    cars.data = pd.DataFrame(cars.data, columns=cars.feature_names)
    cars.target = pd.Series(cars.target, name=cars.target_name)
    return cars
