"""Results do not depend on the number of threads of linear algebra."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import landbridge as lb

RNG = np.random.default_rng(0)
X, X_TARGET = RNG.normal(size=(700, 12)), RNG.normal(0.4, 1.0, size=(400, 12))
Y = X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=700)


@pytest.mark.parametrize("make", [lb.KernelMeanMatching, lb.KLIEP, lb.RuLSIF])
def test_weights_are_bit_identical(make):
    if make is lb.KLIEP:
        make = lambda: lb.KLIEP(gamma="median")  # noqa: E731 - the choice takes seconds
    weights = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            fitted = make().fit(X, X_TARGET)
            weights.append((fitted.weights_.tobytes(), fitted.predict_weights(X_TARGET).tobytes()))
    assert weights[0] == weights[1]


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (lb.LaplacianRLSRegressor(), "predict"),
        (lb.SurrogateKernelRegressor(), "predict"),
        (lb.SurrogateKernelClassifier(), "decision_function"),
        (lb.TransferComponentAnalysis(n_components=3), "transform"),
        (lb.SurrogateKernelMap(random_state=0), "transform_source"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_kernel_methods_are_bit_identical(estimator, method):
    y = (Y > 0).astype(int) if method == "decision_function" else Y
    answers = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            fitted = estimator.fit(X, y, X_unlabeled=X_TARGET)
            answers.append(getattr(fitted, method)(X_TARGET[:200]).tobytes())
    assert answers[0] == answers[1]
