"""Images: handwritten digits, small photographs, and objects in four collections."""

from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from landbridge._docstrings import documented
from landbridge.datasets._home import DataFile, DataHome, require_files

_MNIST = DataFile(
    "mnist/mnist.npz",
    sha256="731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    url="https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
)
_CIFAR = DataFile("cifar10/cifar10_subset.npz")
_CIFAR_CLASSES = [
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
]
_OFFICE = DataFile("office_caltech10_surf/office_caltech10_surf.npz")
# Names of the domains, and of their arrays in the file.
_OFFICE_DOMAINS = {"caltech": "caltech10", "amazon": "amazon", "webcam": "webcam", "dslr": "dslr"}


@documented
def fetch_mnist(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load handwritten digits of 28 × 28 pixels, 60000 for training and 10000 for testing.

    Returns
    -------
    data : Bunch
        ``data`` (70000, 784) of type uint8, ``target`` (digit), ``split`` ("train" or "test"),
        ``DESCR``. There are no natural domains.

    References
    ----------
    Y. LeCun, C. Cortes, C. Burges: The MNIST database of handwritten digits.
    """
    (path,) = require_files(
        [_MNIST],
        data_home,
        download_if_missing,
        "It holds the arrays x_train, y_train, x_test, y_test of the MNIST digits.",
    )
    return _images_in_two_splits(path, fetch_mnist.__doc__)


@documented
def fetch_cifar10(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load a subset of CIFAR-10, photographs of ten classes with 32 × 32 pixels.

    There are 1000 images per class for training and 500 per class for testing.

    The data are not downloaded: the loader reads ``cifar10/cifar10_subset.npz`` in the data home
    with the arrays X_train (10000, 32, 32, 3), y_train, X_test (5000, 32, 32, 3), y_test.

    Returns
    -------
    data : Bunch
        ``data`` (15000, 3072) of type uint8, each row a 32 × 32 × 3 image, ``target`` (0 to 9),
        ``target_names``, ``split`` ("train" or "test"), ``DESCR``. There are no natural domains.

    References
    ----------
    A. Krizhevsky (2009): Learning Multiple Layers of Features from Tiny Images.
    """
    (path,) = require_files(
        [_CIFAR],
        data_home,
        download_if_missing,
        "It holds arrays X_train, y_train (1000 images per class), X_test, y_test (500 per "
        "class) taken from CIFAR-10.",
    )
    images = _images_in_two_splits(path, fetch_cifar10.__doc__)
    images.target_names = list(_CIFAR_CLASSES)
    return images


@documented
def fetch_office_caltech(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load histograms of 800 visual words for ten kinds of objects in four collections.

    Office-Caltech10 with SURF features: caltech 1123, amazon 958, webcam 295, dslr 157 images. The
    usual preparation divides each row by its sum and standardises the columns of each domain.

    The data are not downloaded: the original has one ``.mat`` file per domain. The loader reads
    ``office_caltech10_surf/office_caltech10_surf.npz`` in the data home with the arrays
    caltech10_X, caltech10_y, amazon_X, amazon_y, webcam_X, webcam_y, dslr_X, dslr_y.

    Returns
    -------
    data : Bunch
        ``data`` (2533, 800) counts, ``target`` (class, 1 to 10), ``domain``, ``DESCR``.

    References
    ----------
    B. Gong, Y. Shi, F. Sha, K. Grauman (2012): Geodesic Flow Kernel for Unsupervised Domain
    Adaptation.
    """
    (path,) = require_files(
        [_OFFICE],
        data_home,
        download_if_missing,
        "It holds arrays <domain>_X and <domain>_y made from the files "
        "*_SURF_L10.mat of Gong et al. (2012).",
    )
    with np.load(path) as arrays:
        rows = {name: arrays[f"{key}_X"] for name, key in _OFFICE_DOMAINS.items()}
        labels = [arrays[f"{key}_y"].astype(int).ravel() for key in _OFFICE_DOMAINS.values()]
    return Bunch(
        data=np.vstack(list(rows.values())),
        target=np.concatenate(labels),
        domain=np.repeat(list(rows), [len(part) for part in rows.values()]),
        DESCR=fetch_office_caltech.__doc__,
    )


def _images_in_two_splits(path: Path, description: str | None) -> Bunch:
    with np.load(path) as file:
        # Copies of the file differ in the case of the array names.
        arrays = {name.lower(): file[name] for name in file.files}
    images = [arrays["x_train"], arrays["x_test"]]
    return Bunch(
        data=np.vstack([part.reshape(len(part), -1) for part in images]),
        target=np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(int),
        split=np.repeat(["train", "test"], [len(part) for part in images]),
        DESCR=description,
    )
