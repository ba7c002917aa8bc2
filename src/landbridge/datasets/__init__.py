"""Datasets with natural domains, and generators with known truth."""

from landbridge.datasets._fetch import (
    fetch_abalone,
    fetch_amazon_reviews,
    fetch_bike_sharing,
    fetch_reuters_crossdomain,
    fetch_reviews,
    fetch_ujiindoorloc,
    fetch_wine_quality,
)
from landbridge.datasets._files import get_data_home
from landbridge.datasets._generators import (
    make_concept_shift,
    make_covariate_shift,
    make_label_shift,
    make_sources,
)
from landbridge.datasets._samples import load_auto_mpg, load_bike_hours

__all__ = [
    "fetch_abalone",
    "fetch_amazon_reviews",
    "fetch_bike_sharing",
    "fetch_reuters_crossdomain",
    "fetch_reviews",
    "fetch_ujiindoorloc",
    "fetch_wine_quality",
    "get_data_home",
    "load_auto_mpg",
    "load_bike_hours",
    "make_concept_shift",
    "make_covariate_shift",
    "make_label_shift",
    "make_sources",
]
