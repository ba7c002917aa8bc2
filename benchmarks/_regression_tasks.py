"""Regression between natural domains: the tasks, the split of them, and one search of one draw."""

import os
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeRegressor

from benchmarks._domains import DomainTask, pairs
from landbridge import Pooled, SearchResult, SourceOnly, TargetOnly, TransferSearchCV, datasets

LABELS, DRAWS = (20, 50, 200), 10
MOST_SOURCE, MOST_UNLABELLED, MOST_TEST = 400, 300, 3000
FEWEST_TEST = {20: 40, 50: 40, 200: 400}
DEVELOPMENT = ("wine", "abalone", "covariate shift")
FURTHER = ("alcohol", "days off", "years of cars", "latitude", "diabetes", "generated")
CACHE = Path(os.environ.get("LANDBRIDGE_CACHE", tempfile.gettempdir())) / "landbridge-regression-2"


def candidates() -> dict[str, Any]:
    """Cheap learners; a cubic that extrapolates is deliberately terrible."""
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    cubic = make_pipeline(PolynomialFeatures(3), LinearRegression())
    return {
        "source-only": SourceOnly(Ridge()),
        "pooled": Pooled(Ridge()),
        "pooled, unweighted": Pooled(Ridge(), target_share=None),
        "target-only": TargetOnly(Ridge()),
        "target-only tree": TargetOnly(tree),
        "5-NN": KNeighborsRegressor(),
        "tree": tree,
        "pooled tree": Pooled(tree),
        "least squares": TargetOnly(LinearRegression()),
        "cubic": SourceOnly(cubic),
    }


def tasks() -> Iterator[DomainTask]:
    """Every task, dataset by dataset; columns are standardised over both domains."""
    wine = datasets.fetch_wine_quality()
    yield from pairs("wine", wine.data, wine.target, wine.domain)
    abalone = datasets.fetch_abalone()
    yield from pairs("abalone", abalone.data, abalone.target, abalone.domain)
    for shift in (1.0, 2.0):
        made = datasets.make_covariate_shift(
            4000, 4000, 3, shift=shift, task="regression", random_state=0
        )
        yield _generated("covariate shift", f"distance {shift:g}", made)
    yield from bikes()
    cars = datasets.load_auto_mpg()
    yield from pairs("cars", cars.data, cars.target, cars.domain)
    yield from phones()
    for degrees in (30, 90):
        made = datasets.make_concept_shift(
            4000, 4000, 3, angle=np.deg2rad(degrees), task="regression", random_state=0
        )
        yield _generated("concept shift", f"{degrees} degrees", made)


def further_tasks() -> Iterator[DomainTask]:
    """Tasks drawn up after a look at the held-out ones: other questions, domains and data."""
    wine = datasets.fetch_wine_quality()
    yield from pairs("alcohol", wine.data[:, :-1], wine.data[:, -1], wine.domain)
    bike = datasets.fetch_bike_sharing()
    calendar = ("workingday", "holiday", "weekday")
    other = [k for k, name in enumerate(bike.feature_names) if name not in calendar]
    off = np.where(bike.data[:, bike.feature_names.index("workingday")] > 0, "work", "off")
    yield from pairs("days off", bike.data[:, other], bike.target, off)
    cars = datasets.load_auto_mpg()
    year = cars.feature_names.index("model_year")
    early = np.where(cars.data[:, year] <= np.median(cars.data[:, year]), "early", "late")
    yield from pairs("years of cars", np.delete(cars.data, year, axis=1), cars.target, early)
    yield from phones("latitude", 3, slice(2, 4))
    patients = load_diabetes()
    sex = np.where(patients.data[:, 1] > 0, "one", "other")
    yield from pairs("diabetes", np.delete(patients.data, 1, axis=1), patients.target, sex)
    made = datasets.make_covariate_shift(
        4000, 4000, 8, shift=1.5, task="regression", random_state=1
    )
    yield _generated("generated", "covariate shift, distance 1.5", made)
    made = datasets.make_concept_shift(4000, 4000, 5, angle=1.0, task="regression", random_state=1)
    yield _generated("generated", "concept shift, 1 radian", made)


def part_of(task: DomainTask) -> str:
    """Which part of the study a task belongs to."""
    if task.dataset in DEVELOPMENT:
        return "development"
    return "further" if task.dataset in FURTHER else "held-out"


def bikes() -> Iterator[DomainTask]:
    """Rentals of the other year, and of the next season."""
    bike = datasets.fetch_bike_sharing()
    yield from pairs("bike years", bike.data, bike.target, bike.domain)
    other = [k for k, name in enumerate(bike.feature_names) if name != "season"]
    for task in pairs("bike seasons", bike.data[:, other], bike.target, bike.season.astype(str)):
        a, _, b = task.name.split()
        if int(b) == int(a) % 4 + 1:
            yield task


def phones(
    dataset: str = "phones", coordinate: int = 2, which: slice = slice(2)
) -> Iterator[DomainTask]:
    """Longitude in one building from signals of another phone, with 150 rows of each."""
    data = datasets.fetch_ujiindoorloc()
    for building in np.unique(data.building):
        inside = data.building == building
        names, counts = np.unique(data.domain[inside], return_counts=True)
        names = names[counts >= 150][which]
        keep = inside & np.isin(data.domain, names)
        if len(names) < 2:
            continue
        rows = TruncatedSVD(10, random_state=0).fit_transform(data.data[keep] + 105.0)
        prefix = f"building {building:g}, phone "
        yield from pairs(
            dataset, rows, data.target[keep, coordinate], data.domain[keep], prefix=prefix
        )


def _generated(dataset: str, name: str, made: Any) -> DomainTask:
    return DomainTask(dataset, name, made.X, made.y, made.X_target, made.y_target)


def n_test(task: DomainTask, labels: int) -> int:
    """How many target rows are left to measure the truth on."""
    return min(MOST_TEST, len(task.y_target) - labels)


@dataclass(frozen=True)
class Searched:
    """A search, and labels and predictions (cells × rows) of the other target rows."""

    result: SearchResult
    y: np.ndarray
    values: np.ndarray


def run_search(task: DomainTask, draw: int, labels: int) -> Searched:
    """The search of one draw with what every model predicts; kept in a folder."""
    name = f"{task.dataset} {task.name} {draw} {labels}"
    home = CACHE / "".join(c if c.isalnum() else "_" for c in name)
    if not (home / "test.npz").exists():
        home.mkdir(parents=True, exist_ok=True)
        found = _search(task, draw, labels)
        found.result.save(home / "result.npz")
        np.savez_compressed(home / "test.npz", y=found.y, values=found.values)
    with np.load(home / "test.npz") as test:
        return Searched(SearchResult.load(home / "result.npz"), test["y"], test["values"])


def _search(task: DomainTask, draw: int, labels: int) -> Searched:
    rng = np.random.default_rng(draw)
    source = rng.permutation(len(task.y))[:MOST_SOURCE]
    target = rng.permutation(len(task.y_target))
    labelled, test = target[:labels], target[labels:][:MOST_TEST]
    search = TransferSearchCV(candidates(), refit=False, random_state=draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(
            task.X[source],
            task.y[source].astype(float),
            X_target=task.X_target[labelled],
            y_target=task.y_target[labelled].astype(float),
            X_unlabeled=task.X_target[test[:MOST_UNLABELLED]],
        )
        models = [search.refit_cell(cell) for cell in range(len(search.results_.cells))]
    values = np.stack([model.predict(task.X_target[test]) for model in models])
    return Searched(search.results_, task.y_target[test].astype(float), values)
