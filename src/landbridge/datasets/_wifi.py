"""Indoor localisation from the signal strength of WiFi access points."""

from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from landbridge._docstrings import documented
from landbridge.datasets._home import UCI, DataFile, DataHome, open_text, require_files

_ICDM = DataFile("wifi_icdm2007/wifi_icdm2007_tr_99.npz")
_UJI = {
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
_N_ACCESS_POINTS = 520
NOT_RECEIVED = -105.0


@documented
def fetch_wifi(*, data_home: DataHome = None, download_if_missing: bool = True) -> Bunch:
    """Load WiFi signals of 99 access points with positions in a building, from two periods.

    This is the transfer task of the ICDM 2007 data mining contest as prepared by Xu et al.: 621
    source rows, 53 labelled target rows for training and 3128 target rows for testing. Signals are
    between -97 dBm and -34 dBm; 0 means that the access point was not received.

    The data are not downloaded: the original is a ``.mat`` file. The loader reads
    ``wifi_icdm2007/wifi_icdm2007_tr_99.npz`` in the data home with its six arrays src_X,
    src_labels, tar_train_X, tar_train_labels, tar_test_X, tar_test_labels.

    Returns
    -------
    data : Bunch
        ``data`` (3802, 99), ``target`` (3802, 2) positions, ``domain`` ("source" or "target"),
        ``split`` ("train" or "test"); the same in three parts as ``X, y`` (source),
        ``X_target, y_target`` (labelled target) and ``X_test, y_test``; ``DESCR``.

    References
    ----------
    Y. Xu, S. J. Pan, H. Xiong, Q. Wu, R. Luo, H. Min, H. Song (2017): A Unified Framework for
    Metric Transfer Learning. Scientific use only.
    """
    (path,) = require_files(
        [_ICDM],
        data_home,
        download_if_missing,
        "It holds the arrays of wifi_icdm2007_tr_99.mat of Xu et al. (2017).",
    )
    parts, labels = [], []
    with np.load(path) as arrays:
        for part in ("src", "tar_train", "tar_test"):
            # The file has one row per feature.
            parts.append(arrays[f"{part}_X"].T.astype(np.float64))
            labels.append(arrays[f"{part}_labels"].astype(np.float64))
    sizes = [len(part) for part in parts]
    return Bunch(
        data=np.vstack(parts),
        target=np.vstack(labels),
        domain=np.repeat(["source", "target", "target"], sizes),
        split=np.repeat(["train", "train", "test"], sizes),
        X=parts[0],
        y=labels[0],
        X_target=parts[1],
        y_target=labels[1],
        X_test=parts[2],
        y_test=labels[2],
        DESCR=fetch_wifi.__doc__,
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
        list(_UJI.values()),
        data_home,
        download_if_missing,
        "They are the two tables of the UCI repository's UJIIndoorLoc data.",
    )
    read = [_read_numbers(path) for path in paths]
    names, tables = read[0][0], [numbers for _, numbers in read]
    table = np.vstack(tables)
    signals = table[:, :_N_ACCESS_POINTS]
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
        split=np.repeat(list(_UJI), [len(part) for part in tables]),
        feature_names=names[:_N_ACCESS_POINTS],
        DESCR=fetch_ujiindoorloc.__doc__,
    )


def _read_numbers(path: Path) -> tuple[list[str], np.ndarray]:
    with open_text(path) as lines:
        names = next(lines).strip().split(",")
        return names, np.loadtxt(lines, delimiter=",", ndmin=2)
