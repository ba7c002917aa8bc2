"""`WeightDriftDisplay`: the arrays are right, and `plot` only draws them."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from landbridge import TrAdaBoostClassifier, TrimmedTreeClassifier
from landbridge.boosting.weight_updates import source_rate
from landbridge.inspection import WeightDriftDisplay

mpl.use("Agg")


def model(correction="none", **parameters):
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(300, 3)), rng.normal(size=(40, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int)
    y_target = (X_target[:, 0] + 0.3 * rng.normal(size=40) > 0).astype(int)
    estimator = TrAdaBoostClassifier(
        TrimmedTreeClassifier(1), 10, correction, store_weights=True, **parameters
    )
    return estimator.fit(X, y, X_target=X_target, y_target=y_target)


@pytest.mark.parametrize("correction", ["none", "dynamic", 1.2])
def test_the_curve_of_the_source_is_the_drift_from_the_weighted_majority_algorithm(correction):
    fitted = model(correction)
    mass = WeightDriftDisplay.from_estimator(fitted).panels[0].curves["source"]
    weights = fitted.source_weights_
    rate = source_rate(300, 10)
    # The heaviest row has never been wrong; the algorithm alone would give it this share.
    wrong = np.rint(np.log(weights / weights.max(axis=1, keepdims=True)) / np.log(rate))
    majority = rate**wrong / (rate**wrong).sum(axis=1, keepdims=True)
    drift = (weights / majority)[:, 0]
    np.testing.assert_allclose(mass / mass[0], drift / drift[0], rtol=1e-12)


def test_panels_of_a_model():
    fitted = model("dynamic")
    masses, effective, errors = WeightDriftDisplay.from_estimator(fitted).panels
    assert list(masses.curves) == ["source", "target"]
    np.testing.assert_allclose(masses.curves["source"] + masses.curves["target"], 1)
    assert np.array_equal(effective.curves["source"], fitted.effective_source_rows_)
    assert np.array_equal(errors.curves["target"], fitted.errors_)


def test_plot_draws_every_curve_once():
    import matplotlib.pyplot as plt

    display = WeightDriftDisplay.from_estimator(model())
    first = display.figure_
    assert len(display.ax_) == len(display.panels)
    colours = set()
    for ax, panel in zip(display.ax_, display.panels, strict=True):
        lines = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
        assert [line.get_label() for line in lines] == list(panel.curves)
        colours |= {(line.get_label(), line.get_color()) for line in lines}
    assert len(colours) == 2  # one for the source and one for the target
    figure, axes = plt.subplots(1, 3)
    assert display.plot(axes).figure_ is figure
    assert WeightDriftDisplay(display.panels[:1]).plot(axes[0]).ax_ is axes[0]
    plt.close(first)
    plt.close(figure)


@pytest.mark.filterwarnings("ignore::landbridge.NoTargetWarning")
def test_what_has_no_drift_is_refused():
    with pytest.raises(NotFittedError):
        WeightDriftDisplay.from_estimator(TrAdaBoostClassifier())
    plain = TrAdaBoostClassifier(TrimmedTreeClassifier(1), 2).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="`estimator` must be fitted with labelled target"):
        WeightDriftDisplay.from_estimator(plain)
