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


@needs_data("wifi_icdm2007")
def test_wifi():
    wifi = datasets.fetch_wifi(data_home=DATA_HOME)
    assert wifi.X.shape == (621, 99)
    assert wifi.X_target.shape == (53, 99)
    assert wifi.X_test.shape == (3128, 99)
    assert wifi.target.shape == (3802, 2)


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


@needs_data("mnist")
def test_mnist():
    digits = datasets.fetch_mnist(data_home=DATA_HOME)
    assert digits.data.shape == (70000, 784)
    assert counts(digits.split) == {"train": 60000, "test": 10000}
    assert counts(digits.target)[1] == 7877


@needs_data("cifar10")
def test_cifar10():
    images = datasets.fetch_cifar10(data_home=DATA_HOME)
    assert images.data.shape == (15000, 3072)
    assert set(counts(images.target).values()) == {1500}


@needs_data("office_caltech10_surf")
def test_office_caltech():
    objects = datasets.fetch_office_caltech(data_home=DATA_HOME)
    assert objects.data.shape == (2533, 800)
    assert counts(objects.domain) == {"caltech": 1123, "amazon": 958, "webcam": 295, "dslr": 157}
    assert set(objects.target) == set(range(1, 11))


@needs_data("20newsgroups")
def test_20newsgroups():
    news = datasets.fetch_20newsgroups(data_home=DATA_HOME)
    assert counts(news.split) == {"train": 11314, "test": 7532}
    assert len(news.target_names) == 20
    assert counts(news.target)["alt.atheism"] == 799


@needs_data("fdu_mtl")
def test_reviews():
    reviews = datasets.fetch_reviews(data_home=DATA_HOME)
    assert len(set(reviews.domain)) == 16
    assert counts(reviews.split) == {"train": 25380, "test": 6400}
    assert 0.49 < reviews.target.mean() < 0.51
    assert {len(texts) for texts in reviews.unlabeled.values()} == {2000, 475}


@needs_data("reuters21578")
def test_reuters():
    news = datasets.fetch_reuters(data_home=DATA_HOME)
    assert len(news.data) == 21578
    assert counts(news.split) == {"TRAIN": 14668, "TEST": 6188, "NOT-USED": 722}


@needs_data("syskill_webert")
def test_syskill_webert():
    web = datasets.fetch_syskill_webert(data_home=DATA_HOME)
    assert counts(web.domain) == {"Bands": 61, "BioMedical": 131, "Goats": 70, "Sheep": 65}
    assert counts(web.target) == {"cold": 223, "hot": 93, "medium": 11}


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
