"""The embedded samples: cars of three regions, and hours of bike rentals."""

import csv
from importlib import resources
from typing import Literal

import numpy as np
from sklearn.utils import Bunch

from landbridge._extras import import_optional
from landbridge._validation import check_choice

_FEATURES = ["cylinders", "displacement", "horsepower", "weight", "acceleration", "model_year"]
# Columns that reveal the domain are not features.
_LEFT_OUT = {"season": ("season", "month"), "day": ("day", "weekday"), "year": ("year",)}
_LEVELS = ("very low", "low", "medium", "high", "very high")
_NUMBERS = ("year", "month", "hour", "weekday", "weather", "temperature", "humidity", "wind")


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
    rows = _sample("auto_mpg.csv")
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
    pd = import_optional("pandas", "pandas", needed_by="`as_frame=True`")
    cars.data = pd.DataFrame(cars.data, columns=cars.feature_names)
    cars.target = pd.Series(cars.target, name=cars.target_name)
    return cars


def load_bike_hours(
    *,
    domain: Literal["season", "day", "year"] = "season",
    task: Literal["regression", "classification"] = "regression",
    as_frame: bool = False,
) -> Bunch:
    """Load hourly bike rentals in Washington, D.C., with the season or kind of day as the domain.

    The sample has 3476 hours of 2011 and 2012: every fifth hour of the original table, starting
    with the first. Demand in winter follows the same daily pattern as in other seasons at a lower
    level, so source rows help. The daily pattern differs between working days and days off, so
    source rows are misleading for these domains.

    Parameters
    ----------
    domain : {"season", "day", "year"}, default="season"
        Domain of each row: "winter", "spring", "summer" or "autumn" (849, 881, 899 and 847 rows);
        "working day" or "day off" (2371, 1105); "2011" or "2012" (1729, 1747).
    task : {"regression", "classification"}, default="regression"
        The target is the number of rentals, or its quintile over all hours, from "very low" to
        "very high".
    as_frame : bool, default=False
        Return ``data`` and ``target`` as pandas objects (needs pandas).

    Returns
    -------
    data : Bunch
        ``data``, ``target`` (rentals in the hour, or their level), ``domain``, ``feature_names``,
        ``target_name`` and ``DESCR``. Columns that name the domain are left out of ``data``.

    See Also
    --------
    load_auto_mpg : The other embedded sample.
    fetch_bike_sharing : The whole table.

    References
    ----------
    H. Fanaee-T, J. Gama (2013): Event labeling combining ensemble detectors and background
    knowledge. Progress in Artificial Intelligence. Bike Sharing, UCI Machine Learning Repository,
    CC BY 4.0. This copy names the seasons, gives degrees Celsius, per cent and km/h instead of
    fractions of their largest values, and leaves out most rows and columns.

    Examples
    --------
    >>> from landbridge.datasets import load_bike_hours
    >>> bikes = load_bike_hours()
    >>> bikes.data.shape, int((bikes.domain == "winter").sum())
    ((3476, 8), 849)
    """
    check_choice(domain, "domain", ["season", "day", "year"])
    check_choice(task, "task", ["regression", "classification"])
    rows = _sample("bike_hours.csv")
    columns = {name: np.array([float(row[name]) for row in rows]) for name in _NUMBERS}
    columns["day off"] = np.array([float(row["day"] == "day off") for row in rows])
    dropped = {*_LEFT_OUT[domain], *(["day off"] if domain == "day" else [])}
    names = [name for name in columns if name not in dropped]
    rentals = np.array([float(row["rentals"]) for row in rows])
    bikes = Bunch(
        data=np.column_stack([columns[name] for name in names]),
        target=rentals if task == "regression" else _level(rentals),
        domain=np.array([row[domain] for row in rows]),
        feature_names=names,
        target_name="rentals" if task == "regression" else "demand",
        DESCR=load_bike_hours.__doc__,
    )
    return _with_frames(bikes) if as_frame else bikes


def _level(rentals: np.ndarray) -> np.ndarray:
    edges = np.quantile(rentals, [0.2, 0.4, 0.6, 0.8])
    return np.array(_LEVELS)[np.searchsorted(edges, rentals)]


def _sample(name: str) -> list[dict[str, str]]:
    """Rows of an embedded table; lines with ``#`` are comments."""
    file = resources.files("landbridge.datasets") / "samples" / name
    with file.open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))
