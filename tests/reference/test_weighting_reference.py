"""Kernel mean matching against the answer of another program, and the paper's problem itself."""

import numpy as np
import pytest

import landbridge as lb


def rows():
    i = np.arange(40)
    X = 2 * np.column_stack([np.sin(1.7 * i), np.cos(2.3 * i)])
    X_target = np.column_stack([np.sin(0.9 * i + 1), np.cos(1.1 * i + 2)]) + 0.5
    return X, X_target


# ADAPT 0.4.5, whose KMM calls cvxopt's interior point: KMM(kernel="rbf", gamma=0.5, B=B, eps=eps,
# tol=1e-12, max_iter=500).fit_weights(X, X_target) on the rows above.
ADAPT = [
    (1000.0, None, -372.7336950886983, 41.22566503, [2.897514, 1.019518, 0, 0, 0, 7.059634]),
    (2.0, 0.1, -301.50903236452285, 36.25563285, [2.0, 1.293215, 2.0, 0, 0, 2.0]),
]


@pytest.mark.parametrize(("bound", "eps", "objective", "total", "first"), ADAPT)
def test_paper_s_problem_has_the_answer_that_cvxopt_finds(bound, eps, objective, total, first):
    X, X_target = rows()
    kmm = lb.KernelMeanMatching(setting="paper", gamma=0.5, bound=bound, eps=eps)
    kmm.fit(X, X_target)
    assert kmm.objective_ == pytest.approx(objective, rel=1e-9)
    assert kmm.weights_.sum() == pytest.approx(total, abs=1e-5)
    np.testing.assert_allclose(kmm.weights_[:6], first, atol=1e-4)
