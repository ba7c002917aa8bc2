"""The embedded bike rentals: domains, features that do not name the domain, units."""

import itertools

import numpy as np
import pytest

from landbridge.datasets import load_bike_hours

SIZES = {
    "season": {"winter": 849, "spring": 881, "summer": 899, "autumn": 847},
    "day": {"working day": 2371, "day off": 1105},
    "year": {"2011": 1729, "2012": 1747},
}


@pytest.mark.parametrize("domain", SIZES)
def test_domains_have_the_stated_sizes_and_no_feature_names_them(domain):
    bikes = load_bike_hours(domain=domain)
    names, counts = np.unique(bikes.domain, return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == SIZES[domain]
    assert bikes.data.shape == (3476, len(bikes.feature_names))
    for column in bikes.data.T:
        ranges = [np.unique(column[bikes.domain == name]) for name in names]
        assert not all(len(values) == 1 for values in ranges)


def test_values_are_in_common_units():
    bikes = load_bike_hours(as_frame=True)
    frame = bikes.data
    assert frame["hour"].between(0, 23).all()
    assert frame["temperature"].between(-10, 45).all()
    assert frame["humidity"].between(0, 100).all()
    assert bikes.target.name == "rentals"
    assert bikes.target.min() >= 1


def test_an_unknown_domain_is_refused():
    with pytest.raises(ValueError, match="`domain` must be one of 'season', 'day', 'year'"):
        load_bike_hours(domain="weather")


def test_levels_are_fifths_of_the_rentals():
    levels = load_bike_hours(task="classification").target
    rentals = load_bike_hours().target
    order = ["very low", "low", "medium", "high", "very high"]
    assert set(levels) == set(order)
    for lower, upper in itertools.pairwise(order):
        assert rentals[levels == lower].max() < rentals[levels == upper].min()
    assert all(650 < (levels == level).sum() < 740 for level in order)
