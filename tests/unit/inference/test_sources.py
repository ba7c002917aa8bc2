"""From rows to sources: grouping, moments and the messages about bad input."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.inference import cv_variance, summarise_sources
from landbridge.inference.sources import encode_groups

LOSSES, GROUPS = np.array([0.0, 1.0, 1.0, 0.0, 1.0]), np.array(["b", "a", "b", "a", "a"])


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(
        st.lists(st.integers(-5, 5), min_size=1, max_size=30),
        st.lists(st.sampled_from([-(2**62), 0, 2**62]), min_size=1, max_size=9),
        st.lists(st.text("abc", max_size=3), min_size=1, max_size=30),
        st.lists(st.floats(-2, 2), min_size=1, max_size=30),
        st.lists(st.booleans(), min_size=1, max_size=9),
    )
)
def test_encoding_equals_unique(groups):
    names, codes = encode_groups(np.array(groups), len(groups))
    expected_names, expected_codes = np.unique(np.array(groups), return_inverse=True)
    assert np.array_equal(names, expected_names)
    assert np.array_equal(codes, expected_codes)
    assert names.dtype == expected_names.dtype


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_encoding_of_every_integer_type(dtype):
    groups = np.array([0, 127, 3, 3], dtype=dtype)
    if dtype is np.int8:
        groups[0] = -128  # 127 − (−128) does not fit into eight bits
    names, codes = encode_groups(groups, 4)
    assert np.array_equal(names[codes], groups)
    assert names.dtype == dtype


def test_order_of_rows_and_kind_of_container_do_not_matter():
    expected = summarise_sources(LOSSES, GROUPS)
    for order in ([4, 3, 2, 1, 0], [1, 3, 4, 0, 2]):
        shuffled = summarise_sources(LOSSES[order], GROUPS[order])
        assert np.array_equal(shuffled.mean, expected.mean)
        np.testing.assert_allclose(shuffled.mean_variance, expected.mean_variance, rtol=1e-15)
    for groups in (GROUPS.tolist(), pd.Series(GROUPS), GROUPS.astype(object)):
        assert np.array_equal(summarise_sources(LOSSES, groups).mean, expected.mean)


def test_shares_are_equal_or_proportional():
    assert np.array_equal(summarise_sources(LOSSES, GROUPS).share, [0.5, 0.5])
    proportional = summarise_sources(LOSSES, GROUPS, source_weight="proportional")
    np.testing.assert_allclose(proportional.share, [0.6, 0.4], rtol=1e-15)
    assert proportional.estimate == pytest.approx(LOSSES.mean(), rel=1e-15)
    assert summarise_sources(LOSSES, GROUPS).effective_sources == 2
    assert proportional.effective_sources == pytest.approx(1 / 0.52)


def test_large_means_do_not_drown_small_variances():
    rng = np.random.default_rng(0)
    losses, groups = rng.normal(size=60), np.repeat([0, 1, 2], 20)
    for kind in ("theta_2", "theta_3", "theta_5", "theta_a"):
        moved = cv_variance(losses + 1e6, groups, kind)
        assert moved == pytest.approx(cv_variance(losses, groups, kind), rel=1e-6)


def test_a_source_of_one_row_has_no_known_variance():
    summary = summarise_sources([0, 1, 1], ["a", "a", "b"])
    assert np.isnan(summary.mean_variance).tolist() == [False, True]
    assert cv_variance([0, 1, 1], ["a", "a", "b"], "theta_gamma") == 0.0625
    for kind in ("theta_a", "theta_b", "theta_2", "theta_4", "theta_5", "theta_omega"):
        with pytest.raises(ValueError, match="at least 2 rows.*got one row .* in 'b'"):
            cv_variance([0, 1, 1], ["a", "a", "b"], kind)
    weight = [1, 1, 3, 0]
    summary = summarise_sources([0, 1, 1, 0], ["a", "a", "b", "b"], sample_weight=weight)
    assert np.isnan(summary.mean_variance).tolist() == [False, True]


@pytest.mark.parametrize(
    ("losses", "groups", "options", "message"),
    [
        ([[0, 1]], [0], {}, r"`losses` must hold one loss per row; got an array of shape \(1, 2\)"),
        ([], [], {}, "`losses` must hold one loss per row"),
        ([0, np.nan, 1], [0, 0, 1], {}, "`losses` must hold finite numbers; got nan in row 1"),
        ([0, 1, -np.inf], [0, 0, 1], {}, "got -inf in row 2"),
        ([0, 1], ["a", "a"], {}, "at least 2 sources; got 1, 'a'. One source does not"),
        ([0, 1], None, {}, "`groups` must name the source of each row; got None"),
        ([0, 1], ["a"], {}, "each of the 2 rows"),
        ([0, 1], ["a", np.nan], {}, "got 1 missing, the first in row 1"),
        ([0, 1], [np.nan, 1.0], {}, "got 1 missing, the first in row 0"),
        ([0, 1], ["a", None], {}, "got 1 missing"),
        ([0, 1], pd.Series(["a", pd.NA], dtype="string"), {}, "got 1 missing"),
        ([0, 1], np.array(["2020", "NaT"], dtype="datetime64[D]"), {}, "got 1 missing"),
        ([0, 1], [0, 1], {"source_weight": "size"}, "`source_weight` must be one of 'equal'"),
        ([0, 1], [0, 1], {"sample_weight": [1]}, "one finite weight of at least 0 for each of"),
        ([0, 1], [0, 1], {"sample_weight": [1, -1]}, "smallest -1.0"),
        ([0, 1], [0, 1], {"sample_weight": [1, np.nan]}, "one finite weight"),
        ([0, 1], ["a", "b"], {"sample_weight": [1, 0]}, "got zeros only in 'b'"),
    ],
)
def test_bad_input(losses, groups, options, message):
    with pytest.raises(ValueError, match=message):
        summarise_sources(losses, groups, **options)


@pytest.mark.parametrize(
    ("kind", "source", "message"),
    [
        ("theta_9", None, "`kind` must be one of 'theta_2'"),
        ("theta_b", "a", "`source` requires kind='theta_omega' or kind='theta_gamma'"),
        ("theta_omega", "z", "`source` must be one of the names in groups, .* got 'z'"),
        ("theta_gamma", "a", "`source` must be a pair of sources"),
        ("theta_gamma", ("a", "z"), "got 'z'"),
    ],
)
def test_bad_kinds_and_sources(kind, source, message):
    with pytest.raises(ValueError, match=message):
        cv_variance(LOSSES, GROUPS, kind, source=source)


def test_arguments_are_left_alone():
    losses, groups, weight = LOSSES.copy(), GROUPS.copy(), np.ones(5)
    cv_variance(losses, groups, "theta_b", weight)
    assert np.array_equal(losses, LOSSES)
    assert np.array_equal(groups, GROUPS)
    assert np.array_equal(weight, np.ones(5))
