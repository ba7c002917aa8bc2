"""Pictures of kernel alignment on real data, drawn by the Displays."""

from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.preprocessing import normalize

from benchmarks._harness import PAGES
from benchmarks._kernels_tasks import Task, wifi_tasks
from landbridge.datasets import fetch_office_caltech, load_auto_mpg
from landbridge.inspection import EigenfunctionDisplay, KernelAlignmentDisplay


def run() -> None:
    mpl.use("Agg")
    PAGES.mkdir(parents=True, exist_ok=True)
    eigenfunction().figure_.savefig(PAGES / "kernels_eigenfunction.svg", metadata={"Date": None})
    kernels().figure_.savefig(PAGES / "kernels_alignment.png", dpi=60)
    signals().savefig(PAGES / "kernels_signals.png", dpi=70)


def eigenfunction() -> EigenfunctionDisplay:
    """The weight of cars: the second eigenvector on those from Japan, read off at the USA's."""
    cars = load_auto_mpg(as_frame=True)
    source, target = (cars.data[cars.domain == place] for place in ("USA", "Japan"))
    return EigenfunctionDisplay.from_data(source, target, column="weight")


def kernels() -> KernelAlignmentDisplay:
    """Amazon to webcam images of Office-Caltech10, rows in the order of the classes."""
    images = fetch_office_caltech()
    X = np.sqrt(normalize(images.data.astype(float), "l1"))
    source, target = (images.domain == name for name in ("amazon", "webcam"))
    return KernelAlignmentDisplay.from_data(
        X[source], X[target], y=images.target[source], y_target=images.target[target]
    )


def signals() -> Any:
    """Figures 3 and 4 of the paper: an access point at two times, and heard by two phones."""
    from matplotlib import pyplot

    time, device = (task for task in wifi_tasks() if task.name in TASKS_SHOWN)
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3), layout="constrained")
    for axis, task, words in (
        (axes[0], time, ("at one time", "at another time")),
        (axes[1], device, ("phone 14", "phone 13")),
    ):
        column = most_heard(task)
        for rows, label in zip((task.X, task.X_target), words, strict=True):
            heard = rows[:, column][rows[:, column] > 0]
            axis.hist(heard, bins=30, density=True, alpha=0.6, label=label)
        axis.set(title=task.name, xlabel="signal of one access point, scaled", ylabel="density")
        axis.legend()
    return figure


TASKS_SHOWN = ("ICDM 2007", "UJI building 0, phone 14 to 13")


def most_heard(task: Task) -> int:
    """The access point that the rows of both domains hear most often."""
    return int(np.argmax(np.minimum((task.X > 0).mean(axis=0), (task.X_target > 0).mean(axis=0))))
