"""The embedded sample of bike rentals: hours of two years with calendar and weather."""

import csv
from importlib import resources
from typing import Literal

import numpy as np
from sklearn.utils import Bunch

from landbridge._validation import check_choice
from landbridge.datasets._auto_mpg import _with_frames

# Columns that reveal the domain are not features.
_LEFT_OUT = {"season": ("season", "month"), "day": ("day", "weekday"), "year": ("year",)}
_LEVELS = ("very low", "low", "medium", "high", "very high")
_NUMBERS = ("year", "month", "hour", "weekday", "weather", "temperature", "humidity", "wind")


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
    file = resources.files("landbridge.datasets") / "samples" / "bike_hours.csv"
    with file.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
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
