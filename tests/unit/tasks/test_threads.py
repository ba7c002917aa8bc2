"""Results do not depend on the number of threads of linear algebra."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import landbridge as lb
from landbridge._tasks import one_thread
from landbridge._tasks import task as threads

RNG = np.random.default_rng(0)
X, X_TARGET = RNG.normal(size=(700, 60)), RNG.normal(0.4, 1.0, size=(400, 60))
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
        (lb.LatentMap(), "transform"),
        (lb.SubspaceAlignment(), "transform_source"),
        (lb.CORAL(), "transform_source"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_kernel_methods_and_maps_are_bit_identical(estimator, method):
    y = (Y > 0).astype(int) if method == "decision_function" else Y
    answers = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            fitted = estimator.fit(X, y, X_unlabeled=X_TARGET)
            answers.append(getattr(fitted, method)(X_TARGET[:200]).tobytes())
    assert answers[0] == answers[1]


def test_a_task_that_was_given_up_does_not_lift_the_limit_of_others():
    """Its thread cannot be stopped, so it still counts as running when the next task starts."""
    started, go_on = threading.Event(), threading.Event()

    def hang():
        with one_thread():
            started.set()
            go_on.wait(60)

    thread = threading.Thread(target=hang)
    before = n_threads_of_blas()
    thread.start()
    try:
        assert started.wait(60)
        with threadpool_limits(2):
            with one_thread():
                assert n_threads_of_blas() == {1}
            assert n_threads_of_blas() == {1}
    finally:
        go_on.set()
        thread.join()
    assert n_threads_of_blas() == before


def test_every_thread_can_set_the_limit_and_gives_up_control(monkeypatch):
    """The first thread that sets a limit, here this one, keeps others from setting it."""
    monkeypatch.setattr(threads, "_users", 0)  # tasks of other tests, given up but still running
    keeps_control = threadpool_limits(2)
    seen = []

    def task():
        with one_thread():
            seen.append(n_threads_of_blas())

    thread = threading.Thread(target=task)
    thread.start()
    thread.join()
    assert seen == [{1}]
    assert n_threads_of_blas() == {2}
    keeps_control.restore_original_limits()


def n_threads_of_blas():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
