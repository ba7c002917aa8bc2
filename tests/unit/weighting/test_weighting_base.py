"""Effective sample size, diagnostics and the warning."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import landbridge as lb
from landbridge.weighting._base import diagnose_weights

positive = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=50)


@given(positive, st.floats(1e-100, 1e100))
def test_effective_sample_size_lies_between_one_and_n_and_ignores_the_scale(weights, factor):
    w = np.array(weights)
    size = lb.effective_sample_size(w)
    assert 1 - 1e-9 <= size <= len(w) * (1 + 1e-9)
    assert lb.effective_sample_size(factor * w) == pytest.approx(size, rel=1e-9)


def test_effective_sample_size_of_known_weights():
    assert lb.effective_sample_size(np.ones(7)) == pytest.approx(7)
    assert lb.effective_sample_size([1.0, 3.0]) == pytest.approx(16 / 10)
    assert lb.effective_sample_size([0.0, 5.0, 0.0]) == 1.0
    assert lb.effective_sample_size([0.0, 0.0]) == 0.0


@pytest.mark.parametrize("bad", [[], [1.0, -1.0], [[1.0]], [np.nan, 1.0], [np.inf, 1.0]])
def test_effective_sample_size_refuses_what_are_no_weights(bad):
    with pytest.raises(ValueError, match="`weights` must be (a non-empty|finite)"):
        lb.effective_sample_size(bad)


def test_diagnostics_of_a_hand_made_case():
    X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]])
    X_target = np.array([[3.0, 1.0], [5.0, 3.0]])
    found = diagnose_weights(X, X_target, np.array([0.0, 1.0, 3.0]), bound=3.0)
    assert found.n_rows == 3
    assert found.effective_sample_size == pytest.approx(1.6)
    assert found.largest_share == 0.75
    assert found.n_at_bound == 1
    np.testing.assert_allclose(found.mean_gap_before, [-2.0, -1.0])
    np.testing.assert_allclose(found.mean_gap_after, [-0.5, -1.0])
    np.testing.assert_allclose(found.spread_ratio_before, [np.sqrt(8 / 3), 0.0])
    np.testing.assert_allclose(found.spread_ratio_after, [np.sqrt(0.75), 0.0])
    again = diagnose_weights(
        sparse.csr_array(X), sparse.csr_array(X_target), np.array([0.0, 1.0, 3.0]), bound=3.0
    )
    for name in ("mean_gap_before", "mean_gap_after", "spread_ratio_before", "spread_ratio_after"):
        np.testing.assert_allclose(getattr(again, name), getattr(found, name), atol=1e-12)


def test_diagnostics_of_zero_weights_are_finite():
    found = diagnose_weights(np.eye(3), np.eye(3), np.zeros(3))
    assert found.effective_sample_size == 0
    assert np.isfinite(found.mean_gap_after).all()


def test_diagnostics_read_well_and_cannot_be_changed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=200), "dose": rng.normal(size=200)})
    target = pd.DataFrame({"age": rng.normal(0.2, 1, 200), "dose": rng.normal(0.9, 1, 200)})
    found = lb.UniformWeights().fit(X, target).diagnostics_
    assert repr(found).startswith("WeightDiagnostics(effective_sample_size=200 of 200, ")
    assert "200 weighted source rows are equivalent to 200 unweighted rows" in str(found)
    assert "(dose)" in str(found)
    with pytest.raises(AttributeError):
        found.n_rows = 3
    plain = lb.UniformWeights().fit(X.to_numpy(), target.to_numpy()).diagnostics_
    assert "(column 1)" in str(plain)


def test_weights_bring_the_moments_together():
    rng = np.random.default_rng(1)
    X, T = rng.normal(size=(800, 2)), rng.normal([0.6, 0.0], [1.0, 0.7], size=(800, 2))
    found = lb.KernelMeanMatching().fit(X, T).diagnostics_
    assert abs(found.mean_gap_before[0]) > 0.4
    assert abs(found.mean_gap_after[0]) < 0.1
    assert found.spread_ratio_before[1] > 1.3
    assert found.spread_ratio_after[1] < 1.15


def test_warns_in_words_when_few_rows_carry_everything():
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(400, 2)), rng.normal(4.0, 0.3, size=(100, 2))
    with pytest.warns(
        lb.WeightingWarning,
        match=r"weights of KernelMeanMatching have an effective sample size of \d+\.\d of 400 "
        r"source rows \(.*%\), and the heaviest row carries .*barely overlap.*UniformWeights",
    ):
        lb.KernelMeanMatching(ridge=0.0).fit(X, T)


def test_a_target_is_needed():
    with pytest.raises(ValueError, match="`X_target` must contain the target rows; got None"):
        lb.UniformWeights().fit(np.eye(3), None)


def test_uniform_weights_are_one_for_new_rows_too():
    uniform = lb.UniformWeights().fit(np.eye(3), np.eye(3))
    assert np.array_equal(uniform.predict_weights(np.zeros((5, 3))), np.ones(5))
