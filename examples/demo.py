"""Can what is known of American cars help with cars from Japan and Europe?

The fuel consumption of 245 American cars is known, and that of ten cars from elsewhere. The demo
diagnoses the shift between the domains of the embedded sample and compares models that use the
source alone, the ten target cars alone, or both, on target cars that no model has seen.
"""

from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.preprocessing import StandardScaler

from landbridge import Pooled, ReweightedRegressor, SourceOnly, TargetOnly, diagnose_shift
from landbridge.datasets import load_auto_mpg

SOURCE, TARGETS = "USA", ("Japan", "Europe")
N_LABELED, N_TEST, N_DRAWS = 10, 30, 50

MODELS = {
    "source only": SourceOnly(Ridge()),
    "target only (10 cars)": TargetOnly(Ridge()),
    "pooled": Pooled(Ridge()),
    "reweighted source": ReweightedRegressor(Ridge(), target_share=0),
    "reweighted and pooled": ReweightedRegressor(Ridge(), target_share=0.5),
}


def main() -> None:
    cars = load_auto_mpg()
    # Distances between cars make sense only in common units; no label is used for them.
    cars.data = StandardScaler().fit_transform(cars.data)
    for target in TARGETS:
        print(f"\n{SOURCE} → {target}\n")
        print(diagnose(cars, target), "\n")
        print_table(compare(cars, target), f"Mean absolute error on {target}'s cars")


def diagnose(cars, target: str) -> str:
    """The verdict on the shift from the source to the target, with its figures."""
    here, there = cars.domain == SOURCE, cars.domain == target
    return diagnose_shift(
        cars.data[here],
        cars.data[there],
        y=cars.target[here],
        y_target=cars.target[there],
        feature_names=cars.feature_names,
        random_state=0,
    ).summary()


def compare(cars, target: str) -> dict[str, np.ndarray]:
    """Mean absolute error of each model in each draw of labelled and test cars."""
    source = cars.domain == SOURCE
    errors: dict[str, list[float]] = {name: [] for name in MODELS}
    for labeled, unlabeled, test in draws(np.flatnonzero(cars.domain == target)):
        for name, model in MODELS.items():
            model.fit(
                cars.data[source],
                cars.target[source],
                X_target=cars.data[labeled],
                y_target=cars.target[labeled],
                X_unlabeled=cars.data[unlabeled],
            )
            predicted = model.predict(cars.data[test])
            errors[name].append(mean_absolute_error(cars.target[test], predicted))
    return {name: np.array(values) for name, values in errors.items()}


def draws(rows: np.ndarray) -> Iterator[list[np.ndarray]]:
    """Target rows divided at random into labelled, unlabelled and test rows."""
    rng = np.random.default_rng(0)
    for _ in range(N_DRAWS):
        labeled, rest = np.split(rng.permutation(rows), [N_LABELED])
        yield [labeled, rest[N_TEST:], rest[:N_TEST]]


def print_table(errors: dict[str, np.ndarray], title: str) -> None:
    """A table on the terminal, with the difference to the source-only model in each draw."""
    baseline = errors["source only"]
    columns = ["model", "miles per gallon", "against source only"]
    rows = [
        (name, mean_and_error(values), mean_and_error(values - baseline, sign="+"))
        for name, values in sorted(errors.items(), key=lambda item: item[1].mean())
    ]
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        print(
            title, *("  ".join(f"{cell:<22}" for cell in row) for row in [columns, *rows]), sep="\n"
        )
        return
    table = Table(*columns, title=title, caption=f"mean ± standard error of {N_DRAWS} draws")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def mean_and_error(values: np.ndarray, sign: str = "") -> str:
    """The mean and its standard error over the draws, which share rows and are not independent."""
    return f"{values.mean():{sign}.2f} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}"


if __name__ == "__main__":
    main()
