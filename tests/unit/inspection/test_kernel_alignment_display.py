"""The pictures of kernel alignment hold the right arrays and only draw them."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import landbridge as lb
from landbridge.inspection import EigenfunctionDisplay, KernelAlignmentDisplay

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


def domains(seed=0, n_source=30, n_target=25):
    rng = np.random.default_rng(seed)
    columns = ["age", "dose", "weight"]
    return (
        pd.DataFrame(rng.normal(size=(n_source, 3)), columns=columns),
        pd.DataFrame(rng.normal(0.5, 1.2, (n_target, 3)), columns=columns),
    )


@pytest.mark.parametrize("order", [0, 1, 3])
def test_eigenfunction_extends_the_eigenvector(order):
    X, X_target = domains()
    shown = EigenfunctionDisplay.from_data(X, X_target, column="dose", order=order, width=1.0)
    points = X_target[["dose"]].to_numpy()
    K = rbf_kernel(points, gamma=0.5)
    np.testing.assert_allclose(
        K @ shown.eigenvector, shown.eigenvalue * shown.eigenvector, atol=1e-8
    )
    assert shown.eigenvalue == pytest.approx(np.linalg.eigvalsh(K)[-1 - order])
    # Eq. (4): on the source it is k(z, X)φ/λ, at the target rows the eigenvector.
    wanted = rbf_kernel(X[["dose"]].to_numpy(), points, 0.5) @ shown.eigenvector / shown.eigenvalue
    np.testing.assert_allclose(shown.projected, wanted, atol=1e-8)
    at_target = np.interp(shown.target, shown.curve, shown.values)
    np.testing.assert_allclose(at_target, shown.eigenvector, atol=0.01)
    assert [ax.get_xlabel() for ax in shown.ax_] == ["dose"] * 3


def test_eigenfunction_along_a_position_or_the_leading_axis():
    X, X_target = domains()
    by_name = EigenfunctionDisplay.from_data(X, X_target, column="age")
    by_position = EigenfunctionDisplay.from_data(X.to_numpy(), X_target.to_numpy(), column=0)
    np.testing.assert_array_equal(by_position.target, by_name.target)
    assert by_position.ax_[0].get_xlabel() == "column 0"
    leading = EigenfunctionDisplay.from_data(X, X_target)
    assert leading.ax_[0].get_xlabel() == "leading principal axis"
    axes = matplotlib.pyplot.subplots(1, 3)[1]
    assert leading.plot(axes).ax_ is axes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": "height"}, "`column` must be one of the columns"),
        ({"order": 99}, "`order` must be between 0 and"),
        ({"order": -1}, "`order` must be between 0 and"),
    ],
)
def test_bad_requests_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        EigenfunctionDisplay.from_data(*domains(), **options)


def test_kernels_before_and_after():
    X, X_target = domains()
    y, y_target = np.arange(30) % 3, np.arange(25) % 3
    shown = KernelAlignmentDisplay.from_data(
        X, X_target, y=y, y_target=y_target, ridge=0.5, gamma=1e-3
    )
    for K, n in ((shown.before, 30), (shown.after, 30), (shown.target, 25)):
        assert K.shape == (n, n)
        assert np.trace(K) == pytest.approx(n)
        np.testing.assert_allclose(K, K.T, atol=1e-10)
        assert np.linalg.eigvalsh(K)[0] > -1e-10
    assert 0 < shown.trace_share < 1
    assert shown.n_clipped > 0
    text = shown.ax_[1].get_xlabel()
    assert f"{100 * shown.trace_share:.0f} %" in text
    assert f"{shown.n_clipped} eigenvalues" in text
    image = shown.ax_[1].get_images()[0].get_array()
    np.testing.assert_array_equal(image, shown.after)


def test_of_an_estimator():
    X, X_target = domains()
    y = X["age"].to_numpy() > 0
    model = lb.SurrogateKernelClassifier(ridge=0.3).fit(X, y, X_unlabeled=X_target)
    shown = KernelAlignmentDisplay.from_estimator(model, X, X_target, y=y)
    by_hand = KernelAlignmentDisplay.from_data(X, X_target, y=y, ridge=0.3, width=model.width_)
    np.testing.assert_array_equal(shown.after, by_hand.after)
    assert shown.trace_share == pytest.approx(model.trace_share_)
    unfitted = KernelAlignmentDisplay.from_estimator(lb.SurrogateKernelMap(), X, X_target)
    assert unfitted.before.shape == (30, 30)


def test_many_rows_are_thinned_and_narrow_rows_are_drawn():
    X, X_target = domains(n_source=400)
    shown = KernelAlignmentDisplay.from_data(X, X_target)
    assert shown.before.shape == (300, 300)
    narrow = KernelAlignmentDisplay.from_data(X[["age"]], X_target[["age"]])
    assert narrow.target.shape == (25, 25)
