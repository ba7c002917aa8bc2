"""Intervals of a search with groups of rows, and with unlabelled rows as a control variate."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

import landbridge as lb
from landbridge.inference import e_value
from landbridge.inference.control_variate import adjust_mean
from landbridge.metrics.inference import loss_errors, metric_interval, paired_probability
from landbridge.model_selection.search_inference import compare_pair
from landbridge.model_selection.vote import combine

RNG = np.random.default_rng(0)
N, M = 90, 40
X, X_TARGET = RNG.normal(size=(N, 3)), RNG.normal(0.3, 1, size=(N, 3))
SIGNAL, SIGNAL_TARGET = X[:, 0] + X[:, 1] ** 2, X_TARGET[:, 0] + X_TARGET[:, 1] ** 2
NOISE = 0.5 * RNG.normal(size=(2, N))
PATIENTS = np.array([f"patient {k}" for k in np.arange(M)[::-1] // 4])


def searched(y, y_target, models, **options):
    search = lb.TransferSearchCV(models, criterion="tlv", cv=4, random_state=0, refit=False)
    search.set_params(**{k: v for k, v in options.items() if k == "scoring"})
    rows = {"X_target": X_TARGET[:M], "y_target": y_target[:M], "X_unlabeled": X_TARGET[M:]}
    return search.fit(X, y, **rows, cv_groups_target=options.get("groups")).results_


@pytest.fixture(scope="module")
def classes():
    models = {
        "source": lb.SourceOnly(LogisticRegression()),
        "pooled": lb.Pooled(LogisticRegression()),
        "target": lb.TargetOnly(GaussianNB()),
    }
    labels = ((SIGNAL + NOISE[0] > 1).astype(int), (SIGNAL_TARGET + NOISE[1] > 1).astype(int))
    return searched(*labels, models, scoring=["accuracy", "neg_log_loss", "neg_brier_score"])


@pytest.fixture(scope="module")
def numbers():
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    models = {
        "source": lb.SourceOnly(Ridge()),
        "pooled": lb.Pooled(tree),
        "target": lb.TargetOnly(Ridge()),
    }
    return searched(SIGNAL + NOISE[0], SIGNAL_TARGET + NOISE[1], models, groups=PATIENTS)


# Groups


def test_groups_are_kept_in_the_order_in_which_they_appear(numbers, tmp_path):
    assert numbers.target_groups.tolist() == (np.arange(M) // 4).tolist()
    numbers.save(tmp_path / "search.npz")
    loaded = lb.SearchResult.load(tmp_path / "search.npz")
    assert loaded.target_groups.tolist() == numbers.target_groups.tolist()
    assert tuple(loaded.interval(0.9)) == tuple(numbers.interval(0.9))


def test_intervals_and_probabilities_count_groups(numbers):
    y, groups = numbers.y_target, numbers.target_groups
    values = np.stack([kept.values for kept in numbers.target])
    found = numbers.interval(0.9, cell=1, method="labelled")
    expected = metric_interval(
        numbers.metric, y, values[1], 0.9, groups=groups, variance_factor=5 / 3
    )
    assert tuple(found) == pytest.approx(tuple(expected))
    assert "(labelled: 40 labelled target rows of 10 groups)" in str(found)
    plain = replace(numbers, target_groups=None).interval(0.9, cell=1, method="labelled")
    assert tuple(found) != pytest.approx(tuple(plain))
    probability = paired_probability(numbers.metric, y, values, groups=groups)
    np.testing.assert_allclose(numbers.prob_better(), probability)
    evidence, pair, n_rows = compare_pair(numbers, 0, 2)
    squares = (values[:3] - y) ** 2
    differences = (squares[0] - squares[2]).reshape(10, 4).mean(axis=1)
    scale = float(np.var(numbers.y))
    assert evidence == pytest.approx(e_value(differences, scale=scale))
    assert (pair, n_rows) == (pytest.approx(probability[0, 2]), M)


def test_the_anchored_criterion_counts_groups(numbers, monkeypatch):
    seen = {}

    def anchor(measured, errors, prior, **options):
        seen.update(options, errors=errors)
        raise InterruptedError

    monkeypatch.setattr("landbridge.model_selection.search_result.anchor", anchor)
    with pytest.raises(InterruptedError):
        replace(numbers).values("anchored")
    assert seen["n_rows"] == 10
    values = np.stack([kept.values for kept in numbers.target[:3]])
    expected = loss_errors(numbers.metric, numbers.y_target, values, groups=numbers.target_groups)
    np.testing.assert_allclose(seen["errors"], expected)


# Control variates


@pytest.mark.parametrize("name", ["MAE", "RMSE"])
def test_the_distance_to_the_vote_is_the_control_variate_of_numbers(numbers, name):
    """By hand: the mean loss less the slope times the excess of the distance to the vote."""
    result = replace(numbers, target_groups=None)
    metric = next(metric for metric in result.metrics if metric.label == name)
    cell, vote = result.baseline, result.vote()
    elsewhere = combine(
        np.stack([result.unlabelled[k].values for k in vote.members]), vote.weights[vote.members]
    )
    power = 2 if name == "RMSE" else 1
    own, others = result.target[cell].values, result.unlabelled[cell].values
    losses = np.abs(own - result.y_target) ** power
    slope, _, moved = adjust_mean(
        losses, np.abs(own - vote.predictions.values) ** power, np.abs(others - elsewhere) ** power
    )
    assert slope > 0
    interval = result.interval(0.9, cell=cell, metric=metric, method="adjusted")
    assert interval.estimate == pytest.approx((losses.mean() + moved) ** (1 / power))
    plain = result.interval(0.9, cell=cell, metric=metric, method="labelled")
    assert interval.high - interval.low < plain.high - plain.low
    # The vote is its own reference, so that its interval is the plain one.
    of_vote = result.interval(0.9, cell="vote", metric=metric)
    score = metric.score(result.y_target, vote.predictions.values)
    assert of_vote.estimate == pytest.approx(score)


def test_the_expected_log_loss_is_the_control_variate_of_the_vote(classes):
    """The cross entropy between the mean of all candidates and the vote, which it explains."""
    kept, vote = classes.vote().predictions.values, classes.vote()
    cells = [k for k, cell in enumerate(classes.cells) if cell.role != "baseline"]
    mean, elsewhere = (
        np.mean([found[k].values for k in cells], axis=0)
        for found in (classes.target, classes.unlabelled)
    )
    others = combine(
        np.stack([classes.unlabelled[k].values for k in vote.members]), vote.weights[vote.members]
    )
    losses = -np.log(kept[np.arange(M), classes.y_target])
    slope, _, moved = adjust_mean(
        losses, -(mean * np.log(kept)).sum(axis=1), -(elsewhere * np.log(others)).sum(axis=1)
    )
    assert slope > 0
    interval = classes.interval(0.9, metric="neg_log_loss")
    assert interval.estimate == pytest.approx(losses.mean() + moved, rel=1e-5)
    # Averages over folds are less sure of themselves than the models of single candidates.
    for name in ("neg_log_loss", "neg_brier_score"):
        plain, adjusted = (
            classes.interval(0.9, cell=2, metric=name, method=method)
            for method in ("labelled", "adjusted")
        )
        assert tuple(plain) == tuple(adjusted)
