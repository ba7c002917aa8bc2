"""Pictures of kernel alignment on real data, drawn by the Displays."""

import matplotlib as mpl
import numpy as np
from sklearn.preprocessing import normalize

from benchmarks._harness import PAGES
from landbridge.datasets import fetch_office_caltech, load_auto_mpg
from landbridge.inspection import EigenfunctionDisplay, KernelAlignmentDisplay


def run() -> None:
    mpl.use("Agg")
    PAGES.mkdir(parents=True, exist_ok=True)
    eigenfunction().figure_.savefig(PAGES / "kernels_eigenfunction.svg", metadata={"Date": None})
    kernels().figure_.savefig(PAGES / "kernels_alignment.png", dpi=60)


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
