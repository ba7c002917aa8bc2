"""The embedded bike rentals: domains, features that do not name the domain, units."""

import numpy as np
import pytest

from landbridge.datasets import load_bike_hours

SIZES = {
    "season": {"winter": 424, "spring": 441, "summer": 449, "autumn": 424},
    "day": {"working day": 1186, "day off": 552},
    "year": {"2011": 865, "2012": 873},
}


@pytest.mark.parametrize("domain", SIZES)
def test_domains_have_the_stated_sizes_and_no_feature_names_them(domain):
    bikes = load_bike_hours(domain=domain)
    names, counts = np.unique(bikes.domain, return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == SIZES[domain]
    assert bikes.data.shape == (1738, len(bikes.feature_names))
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
