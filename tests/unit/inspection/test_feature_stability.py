import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from landbridge import TGreedySelector
from landbridge.inspection import FeatureStabilityDisplay

mpl.use("Agg")


@pytest.fixture
def selector():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    y = X["a"] - X["c"] + rng.normal(size=300)
    return TGreedySelector().fit(X, y, groups=np.arange(300) % 6)


def test_panels_show_the_path(selector):
    display = FeatureStabilityDisplay.from_estimator(selector, n_features=2)
    statistics, effects, curves = display.ax_
    path = selector.path_
    kept = np.concatenate([c.get_offsets() for c in statistics.collections])
    np.testing.assert_allclose(np.sort(kept[:, 1]), np.sort(np.abs(path.T)))
    assert [t.get_text() for t in effects.get_yticklabels()] == [
        selector.feature_names_in_[i] for i in path.feature[:2]
    ]
    np.testing.assert_allclose(effects.collections[0].get_offsets()[:, 0], path.effects[0])
    source, held_out = curves.get_lines()[:2]
    np.testing.assert_allclose(source.get_ydata(), path.loss.mean(axis=1))
    np.testing.assert_allclose(held_out.get_ydata(), path.held_out_loss.mean(axis=1))
    assert display.figure_ is statistics.figure
    mpl.pyplot.close(display.figure_)


def test_without_held_out_curves_and_names_on_given_axes():
    plain = TGreedySelector(stop=None).fit(
        np.random.default_rng(0).normal(size=(60, 3)),
        np.random.default_rng(1).normal(size=60),
        groups=np.arange(60) % 3,
    )
    figure, axes = mpl.pyplot.subplots(1, 3)
    display = FeatureStabilityDisplay.from_estimator(plain, ax=axes)
    assert display.figure_ is figure
    assert axes[1].get_yticklabels()[0].get_text() == str(plain.path_.feature[0])
    assert len(axes[2].get_legend().get_texts()) == 1
    mpl.pyplot.close(figure)


def test_no_threshold(selector):
    path = selector.path_
    names = [str(i) for i in path.feature]
    display = FeatureStabilityDisplay(
        path.T, path.effects, names, path.loss, path.loss, n_kept=2
    ).plot()
    assert "t quantile" not in [t.get_text() for t in display.ax_[0].get_legend().get_texts()]
    mpl.pyplot.close(display.figure_)


def test_every_name_has_its_line_and_every_step_is_whole():
    display = FeatureStabilityDisplay(
        np.ones(40),
        np.ones((40, 3)),
        [f"feature {i}" for i in range(40)],
        np.ones((41, 3)),
        np.ones((41, 3)),
        n_kept=1,
        n_features=40,
    ).plot()
    display.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.ax_[1].get_yticklabels()]
    assert all(above.y0 >= below.y1 for above, below in itertools.pairwise(boxes))
    mpl.pyplot.close(display.figure_)
    display = FeatureStabilityDisplay(
        np.ones(1), np.ones((1, 3)), ["a"], np.ones((2, 3)), np.ones((2, 3)), n_kept=1
    ).plot()
    for axis in (display.ax_[0], display.ax_[2]):
        assert all(tick == round(tick) for tick in axis.get_xticks())
    mpl.pyplot.close(display.figure_)


def test_an_infinite_statistic_is_shown_above_the_others():
    T = np.array([np.inf, -np.inf, 7.0])
    display = FeatureStabilityDisplay(
        T, np.ones((3, 2)), list("abc"), np.ones((4, 2)), np.ones((4, 2)), n_kept=2
    ).plot()
    points = np.concatenate([c.get_offsets() for c in display.ax_[0].collections])
    assert set(map(tuple, points)) == {(1, 70), (2, 70), (3, 7)}
    words = [text.get_text() for text in display.ax_[0].get_legend().get_texts()]
    assert "infinite" in words
    assert np.isinf(display.T[0])  # what was given is not touched
    mpl.pyplot.close(display.figure_)
