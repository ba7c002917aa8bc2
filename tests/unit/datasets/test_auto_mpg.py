"""The embedded sample."""

import sys
from collections import Counter
from importlib import resources

import numpy as np
import pytest

from landbridge.datasets import load_auto_mpg


def origins(cars):
    return dict(Counter(cars.domain.tolist()))


def test_the_sample_is_the_published_one():
    cars = load_auto_mpg(missing="keep")
    assert cars.data.shape == (398, 6)
    assert origins(cars) == {"USA": 249, "Europe": 70, "Japan": 79}
    assert np.isnan(cars.data).sum(axis=0).tolist() == [0, 0, 6, 0, 0, 0]
    assert cars.target.mean() == pytest.approx(23.514573, abs=1e-6)
    assert (cars.data[:, 5].min(), cars.data[:, 5].max()) == (1970, 1982)
    first = [cars.target[0], *cars.data[0], cars.domain[0], cars.car[0]]
    assert first == [18, 8, 307, 130, 3504, 12, 1970, "USA", "chevrolet chevelle malibu"]


def test_cars_of_unknown_horsepower_are_left_out():
    cars = load_auto_mpg()
    assert cars.data.shape == (392, 6)
    assert origins(cars) == {"USA": 245, "Europe": 68, "Japan": 79}
    assert np.isfinite(cars.data).all()
    assert len(cars.target) == len(cars.domain) == len(cars.car) == 392


def test_the_classes_split_at_the_median_of_all_cars():
    cars = load_auto_mpg(task="classification", missing="keep")
    mpg = load_auto_mpg(missing="keep").target
    assert np.median(mpg) == 23
    assert ((mpg > 23) == (cars.target == "high")).all()


def test_frames():
    cars = load_auto_mpg(as_frame=True)
    assert list(cars.data.columns) == cars.feature_names
    assert cars.target.name == "mpg"
    np.testing.assert_array_equal(cars.data.to_numpy(), load_auto_mpg().data)


def test_frames_without_pandas_name_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="`as_frame=True` needs the package pandas.*install"):
        load_auto_mpg(as_frame=True)


@pytest.mark.parametrize("option", ["task", "missing"])
def test_unknown_choices(option):
    with pytest.raises(ValueError, match=f"`{option}` must be one of .*got 'other'"):
        load_auto_mpg(**{option: "other"})


def test_the_file_is_small_and_the_docstring_names_source_and_licence():
    file = resources.files("landbridge.datasets") / "samples" / "auto_mpg.csv"
    assert len(file.read_bytes()) < 200_000
    assert "CC BY 4.0" in load_auto_mpg.__doc__
    assert "Quinlan (1993)" in load_auto_mpg.__doc__
