"""The picture shows the numbers it was given."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.naive_bayes import GaussianNB

import landbridge as lb
from landbridge import MultiSourceCV, MultiSourceDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt

RNG = np.random.default_rng(0)
GROUPS = np.repeat(["north", "south", "east", "west", "mid"], 30)
X = RNG.normal(size=(150, 2)) + RNG.normal(size=(5, 2))[np.unique(GROUPS, return_inverse=True)[1]]
Y = (X[:, 0] + RNG.normal(size=150) > 0).astype(int)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def result():
    return MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_


def labels_of(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_rows_are_the_sources_by_mean_with_their_intervals(result):
    display = MultiSourceDisplay.from_result(result, level=0.9)
    assert np.array_equal(display.means, np.sort(result.source_scores()))
    by_name = dict(zip(result.source_names, result.source_scores(), strict=True))
    assert [by_name[name] for name in display.names] == display.means.tolist()
    low, _ = result.source_intervals(level=0.9)
    order = np.argsort(result.source_scores(), kind="stable")
    np.testing.assert_allclose(display.lows, low[order])
    assert (display.lows <= display.means).all()
    assert (display.means <= display.highs).all()


def test_answers_are_the_three_intervals(result):
    display = MultiSourceDisplay.from_result(result, level=0.9)
    for question, (_, *drawn) in zip(
        ("new_source", "population", "fixed"), display.answers, strict=True
    ):
        answer = result.interval(question, 0.9)
        assert drawn == [answer.estimate, answer.low, answer.high]


def test_plot_draws_what_it_was_given(result):
    display = MultiSourceDisplay.from_result(result)
    assert display.figure_ is display.ax_.figure
    assert labels_of(display) == [
        *display.names,
        "one new source",
        "all sources of this kind",
        "these sources",
    ]
    points = display.ax_.lines[0].get_xdata()
    assert np.array_equal(points, display.means)
    assert "accuracy, 95 % intervals" in display.ax_.get_xlabel()


@pytest.mark.parametrize(("unit", "power"), [(1e11, "×10⁹"), (1e-7, "×10⁻⁹"), (1.0, "")])
def test_ticks_of_any_size_have_engineering_exponents(unit, power):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(80, 2)), np.repeat(np.arange(8), 10)
    y = unit * (X[:, 0] + rng.normal(size=80))
    display = MultiSourceDisplay.from_estimator(DummyRegressor(), X, y, groups=groups)
    display.figure_.canvas.draw()
    axis = display.ax_.xaxis
    assert axis.get_offset_text().get_text() == ""
    low, high = axis.get_view_interval()
    for tick in axis.get_major_ticks():
        if low <= tick.get_loc() <= high and tick.get_loc():
            mantissa, times, _ = tick.label1.get_text().replace("−", "-").partition("×")
            assert tick.label1.get_text().endswith(power)
            assert bool(times) == bool(power)
            scale = {"×10⁹": 1e9, "×10⁻⁹": 1e-9, "": 1.0}[power]
            assert float(mantissa) * scale == pytest.approx(tick.get_loc())
    plt.close(display.figure_)


def test_plot_into_given_axes(result):
    _, ax = plt.subplots()
    assert MultiSourceDisplay.from_result(result, ax=ax).ax_ is ax


def test_from_estimator_runs_the_procedure(result):
    display = MultiSourceDisplay.from_estimator(GaussianNB(), X, Y, groups=GROUPS, scoring="log")
    expected = MultiSourceCV(GaussianNB(), scoring="log").fit(X, Y, groups=GROUPS).result_
    assert np.array_equal(display.means, np.sort(expected.source_scores()))
    assert display.xlabel == "log loss"


def test_only_answerable_questions_are_shown():
    random = MultiSourceCV(GaussianNB(), scheme="random", random_state=0)
    display = MultiSourceDisplay.from_result(random.fit(X, Y, groups=GROUPS).result_)
    assert [label for label, *_ in display.answers] == ["these sources"]


def test_a_source_of_one_row_is_a_point_without_interval():
    groups = np.where(np.arange(150) == 0, "lonely", GROUPS)
    cv = MultiSourceCV(DummyRegressor()).fit(X, X[:, 0], groups=groups)
    display = MultiSourceDisplay.from_result(cv.result_)
    assert len(display.ax_.collections[0].get_segments()) == 5
    assert len(display.names) == 6
    display.figure_.canvas.draw()


def test_comparison_shows_paired_differences():
    comparison = lb.compare_estimators(GaussianNB(), DummyClassifier(), X, Y, groups=GROUPS)
    display = MultiSourceDisplay.from_comparison(comparison)
    means = comparison.source_losses()
    assert display.means == pytest.approx(np.sort(means[0] - means[1]), abs=1e-15)
    assert display.reference == 0
    (test,) = comparison.pairs()
    assert display.answers[0][1:] == (test.difference, test.low, test.high)
    assert display.xlabel == "error of GaussianNB − DummyClassifier"
    by_auc = MultiSourceDisplay.from_comparison(comparison, metric="roc_auc")
    assert by_auc.xlabel == "1 − ROC AUC of GaussianNB − DummyClassifier"
    swapped = MultiSourceDisplay.from_comparison(comparison, "DummyClassifier", "GaussianNB")
    assert swapped.means == pytest.approx(-display.means[::-1])


def test_matplotlib_is_named_where_it_is_missing(result, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(
        ImportError, match=r"needs the package matplotlib.*pip install 'landbridge\[plot\]'"
    ):
        MultiSourceDisplay.from_result(result)
