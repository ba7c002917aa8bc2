"""Datasets with natural domains, and generators with known truth."""

from landbridge.datasets._counts import fetch_amazon_reviews, fetch_reuters_crossdomain
from landbridge.datasets._generators import (
    make_concept_shift,
    make_covariate_shift,
    make_label_shift,
    make_sources,
)
from landbridge.datasets._home import get_data_home
from landbridge.datasets._images import fetch_cifar10, fetch_mnist, fetch_office_caltech
from landbridge.datasets._samples import load_auto_mpg, load_bike_hours
from landbridge.datasets._tables import fetch_abalone, fetch_bike_sharing, fetch_wine_quality
from landbridge.datasets._texts import (
    fetch_20newsgroups,
    fetch_reuters,
    fetch_reviews,
    fetch_syskill_webert,
)
from landbridge.datasets._wifi import fetch_ujiindoorloc, fetch_wifi

__all__ = [
    "fetch_20newsgroups",
    "fetch_abalone",
    "fetch_amazon_reviews",
    "fetch_bike_sharing",
    "fetch_cifar10",
    "fetch_mnist",
    "fetch_office_caltech",
    "fetch_reuters",
    "fetch_reuters_crossdomain",
    "fetch_reviews",
    "fetch_syskill_webert",
    "fetch_ujiindoorloc",
    "fetch_wifi",
    "fetch_wine_quality",
    "get_data_home",
    "load_auto_mpg",
    "load_bike_hours",
    "make_concept_shift",
    "make_covariate_shift",
    "make_label_shift",
    "make_sources",
]
