"""The real files, where they are: shapes, classes and counts as their authors state them."""

from collections import Counter

import numpy as np
import pytest

from common.real_data import DATA_HOME, needs_data
from landbridge import datasets


def counts(values):
    return dict(Counter(np.asarray(values).tolist()))


@needs_data("wine_quality")
def test_wine_quality():
    wine = datasets.fetch_wine_quality(data_home=DATA_HOME)
    assert wine.data.shape == (6497, 11)
    assert counts(wine.domain) == {"red": 1599, "white": 4898}
    assert (wine.target.min(), wine.target.max()) == (3, 9)


@needs_data("abalone")
def test_abalone():
    shells = datasets.fetch_abalone(data_home=DATA_HOME)
    assert shells.data.shape == (4177, 7)
    assert counts(shells.domain) == {"M": 1528, "I": 1342, "F": 1307}


@needs_data("bike_sharing")
def test_bike_sharing():
    rides = datasets.fetch_bike_sharing(data_home=DATA_HOME)
    assert rides.data.shape == (17379, 11)
    assert counts(rides.domain) == {"2011": 8645, "2012": 8734}
    assert rides.target.sum() == 3292679


@pytest.mark.slow
@needs_data("ujiindoorloc")
def test_ujiindoorloc():
    places = datasets.fetch_ujiindoorloc(data_home=DATA_HOME)
    assert places.data.shape == (21048, 520)
    assert (places.data.min(), places.data.max()) == (-105, 0)
    assert counts(places.split) == {"train": 19937, "test": 1111}
    train = places.split == "train"
    assert len(set(places.domain[train])) == 16
    assert len(set(places.user[train])) == 18
    assert len(set(places.building)) == 3


@needs_data("fdu_mtl")
def test_reviews():
    reviews = datasets.fetch_reviews(data_home=DATA_HOME)
    assert len(set(reviews.domain)) == 16
    assert counts(reviews.split) == {"train": 25380, "test": 6400}
    assert 0.49 < reviews.target.mean() < 0.51
    assert {len(texts) for texts in reviews.unlabeled.values()} == {2000, 475}


@pytest.mark.slow
@needs_data("amazon_blitzer")
def test_amazon_reviews():
    reviews = datasets.fetch_amazon_reviews(data_home=DATA_HOME)
    assert reviews.data.shape == (8000, 473856)
    pairs = Counter(zip(reviews.domain.tolist(), reviews.target.tolist(), strict=True))
    assert set(pairs.values()) == {1000}
    assert len(pairs) == 8


@needs_data("reuters_crossdomain")
@pytest.mark.parametrize(
    ("task", "sizes", "n_terms"),
    [
        ("orgs-people", (1237, 1208), 4771),
        ("orgs-places", (1016, 1043), 4415),
        ("people-places", (1077, 1077), 4562),
    ],
)
def test_reuters_crossdomain(task, sizes, n_terms):
    terms = datasets.fetch_reuters_crossdomain(task=task, data_home=DATA_HOME)
    assert terms.data.shape == (sum(sizes), n_terms)
    assert counts(terms.domain) == {"source": sizes[0], "target": sizes[1]}
    assert set(terms.target) == {1, 2}
