"""Theorems 1–5 of Al-Stouhi and Reddy, and AdaBoost of scikit-learn as a special case."""

import numpy as np
import pytest
from benchmarks.boosting_pictures import drift_ratio, figure_1, figure_2, source_sum_ratio
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from landbridge import TrAdaBoostClassifier, TrimmedTreeClassifier
from landbridge.boosting.tradaboost import Rules, boost
from landbridge.boosting.weight_updates import source_rate

quiet = pytest.mark.filterwarnings("ignore::landbridge.LandbridgeWarning")


class FromAList:
    """A learner with a given list of mistakes for each round."""

    def __init__(self, rounds):
        self.rounds, self.round = rounds, -1

    def fit(self, weights, inside=None):
        self.round += 1
        return object()

    def mistakes(self, estimator):
        return self.rounds[self.round]


def rounds_with_error(n_source, n_target, error, n_rounds):
    """Hard target mistakes of weighted error ε in every round, none on the source.

    Each round the lightest rows that together weigh no more than ε are wrong.
    """
    weights = np.full(n_target, 1.0 / n_target)
    out = []
    for _ in range(n_rounds):
        order = np.argsort(weights)
        mass = np.cumsum(weights[order])
        wrong = np.zeros(n_target)
        wrong[order[mass <= error * (1 + 1e-9)]] = 1.0
        got = weights @ wrong
        out.append((got, np.concatenate([np.zeros(n_source), wrong])))
        weights = weights * (got / (1 - got)) ** -wrong
        weights /= weights.sum()
    return [e for e, _ in out], [m for _, m in out]


def histories(correction, errors_and_mistakes, n_source, n_target, label_costs=None, codes=None):
    _, mistakes = errors_and_mistakes
    codes = np.zeros(n_source + n_target, dtype=int) if codes is None else codes
    rules = Rules(len(mistakes), correction, label_costs, store_weights=True)
    done = boost(FromAList(mistakes), codes, n_source, 2, rules)
    return np.array(done.source_weights), np.array(done.target_weights), done


@pytest.mark.parametrize("error", [0.1, 0.25, 0.4])
def test_theorems_1_to_3_source_weights_against_the_closed_form(error):
    n_source, n_target, n_rounds = 1000, 40, 12
    script = rounds_with_error(n_source, n_target, error, n_rounds)
    errors = np.array(script[0])
    drift, _, done = histories("none", script, n_source, n_target)
    np.testing.assert_allclose(done.errors, errors, rtol=1e-12)
    # Theorem 1: a round divides by n·w_src + 2·m·w_tar(1 − ε), although no source row is wrong.
    for t in range(n_rounds - 1):
        source_mass = drift[t].sum()
        divisor = source_mass + 2 * (1 - source_mass) * (1 - errors[t])
        np.testing.assert_allclose(drift[t + 1], drift[t] / divisor, rtol=1e-12)
        assert divisor > 1
    # Theorem 2, in product form: (1 + r)/(1 + r·Π 2(1 − ε_t)).
    ratio = n_target / n_source
    growth = np.cumprod(np.append(1.0, 2 * (1 - errors[:-1])))
    expected = (1 + ratio) / (1 + ratio * growth) * drift[0, 0]
    np.testing.assert_allclose(drift[:, 0], expected, rtol=1e-12)
    # Theorem 3: the dynamic update keeps them where the weighted majority algorithm has them.
    kept, _, _ = histories("dynamic", script, n_source, n_target)
    np.testing.assert_allclose(kept, kept[:1].repeat(n_rounds, axis=0), rtol=1e-12)


def test_the_drift_formula_at_a_constant_error():
    updates = np.arange(6)
    expected = [1.02 / (1 + 0.02 * 1.8**t) for t in updates]
    np.testing.assert_allclose(drift_ratio(0.02, 0.1, updates), expected, rtol=1e-14)
    n_source, n_target = 500, 10
    weights = np.full(n_source + n_target, 1.0 / (n_source + n_target))
    for t in range(6):  # mass by hand: the target's grows by 2(1 − ε)
        expected = weights[0] * (n_source + n_target)
        np.testing.assert_allclose(drift_ratio(0.02, 0.3, t), expected, rtol=1e-12)
        weights[n_source:] *= 2 * 0.7
        weights /= weights.sum()


@pytest.mark.parametrize("c", [2, 3])
def test_theorem_4_dynamic_target_weights_are_adaboosts_on_the_target_alone(c):
    n_source, n_target, n_rounds = 300, 30, 5
    rng = np.random.default_rng(c)
    # Other rows in every round, so that no round is worse than chance under its weights.
    wrong_in = rng.permutation(np.repeat(np.arange(n_rounds), n_target // n_rounds))
    target_mistakes = [wrong_in == t for t in range(n_rounds)]
    source_mistakes = [rng.random(n_source) < 0.2 for _ in range(n_rounds)]
    both = [np.concatenate(pair) for pair in zip(source_mistakes, target_mistakes, strict=True)]
    rules = Rules(n_rounds, "dynamic", store_weights=True)
    codes = np.zeros(n_source + n_target, dtype=int)
    done = boost(FromAList(both), codes, n_source, c, rules)
    alone = boost(FromAList(target_mistakes), codes[:n_target], 0, c, rules)
    ours, adaboosts = np.array(done.target_weights), np.array(alone.target_weights)
    np.testing.assert_allclose(
        ours / ours.sum(axis=1, keepdims=True), adaboosts, rtol=1e-12, atol=1e-15
    )
    # And the source's are the weighted majority algorithm's among themselves.
    rate = source_rate(n_source, n_rounds)
    majority = rate ** np.cumsum([np.zeros(n_source), *source_mistakes[:-1]], axis=0)
    sources = np.array(done.source_weights)
    np.testing.assert_allclose(
        sources / sources.sum(axis=1, keepdims=True),
        majority / majority.sum(axis=1, keepdims=True),
        rtol=1e-12,
    )


def test_with_a_right_source_the_dynamic_target_weights_equal_adaboosts_in_absolute_size():
    n_source, n_target = 200, 20
    script = rounds_with_error(n_source, n_target, 0.3, 8)
    _, target, _ = histories("dynamic", script, n_source, n_target)
    alone = boost(
        FromAList([m[n_source:] for m in script[1]]),
        np.zeros(n_target, dtype=int),
        0,
        2,
        Rules(8, store_weights=True),
    )
    np.testing.assert_allclose(
        target * (n_source + n_target) / n_target, np.array(alone.target_weights), rtol=1e-12
    )


@pytest.mark.parametrize("n_rounds", [20, 80])
def test_theorem_5_sum_of_source_weights(n_rounds):
    n_source, source_error = 400, 0.2
    mistakes = np.zeros(n_source)
    mistakes[: int(source_error * n_source)] = 1
    sums = (source_rate(n_source, n_rounds) ** mistakes).mean()
    np.testing.assert_allclose(source_sum_ratio(source_error, n_source, n_rounds), sums, rtol=1e-13)
    assert source_sum_ratio(source_error, n_source, 10**8) == pytest.approx(1, abs=1e-4)


def test_sum_of_source_weights_hardly_depends_on_the_rows():
    """Section 4.3: n has little influence, the number of rounds more."""
    ratios = [[source_sum_ratio(0.2, n, rounds) for n in (100, 10_100)] for rounds in (20, 80)]
    np.testing.assert_allclose(ratios, [[0.919, 0.902], [0.949, 0.935]], atol=5e-4)


def test_dynamic_equals_the_printed_factor_between_0_and_one_half_and_not_at_0():
    n_source, n_target = 100, 20
    script = rounds_with_error(n_source, n_target, 0.3, 6)
    dynamic = histories("dynamic", script, n_source, n_target)
    printed = histories("paper", script, n_source, n_target)
    np.testing.assert_allclose(dynamic[0], printed[0], rtol=1e-12)
    np.testing.assert_allclose(dynamic[2].corrections, 2 * (1 - np.array(script[0])), rtol=1e-12)
    nothing_wrong = [0.0] * 2, [np.append(np.ones(n_source), np.zeros(n_target))] * 2
    assert histories("dynamic", nothing_wrong, n_source, n_target)[2].corrections == [1.0, 1.0]
    assert histories("paper", nothing_wrong, n_source, n_target)[2].corrections == [2.0, 2.0]


def test_three_classes_have_the_factor_c_times_one_minus_error():
    n_source, n_target = 90, 30
    wrong = np.append(np.zeros(n_source), np.arange(n_target) < 12)  # ε = 0.4 < 1 − 1/3
    rules = Rules(1, "dynamic")
    done = boost(FromAList([wrong]), np.zeros(n_source + n_target, dtype=int), n_source, 3, rules)
    np.testing.assert_allclose(done.corrections, [3 * 0.6], rtol=1e-12)
    np.testing.assert_allclose(done.votes, [np.log(0.6 / 0.4) + np.log(2)], rtol=1e-12)


@pytest.mark.parametrize("correction", ["dynamic", "paper"])
def test_label_cost_0_equals_the_printed_form_exactly(correction):
    n_source, n_target = 100, 20
    script = rounds_with_error(n_source, n_target, 0.3, 6)
    codes = np.arange(n_source + n_target) % 2
    printed = histories("paper", script, n_source, n_target, codes=codes)
    balanced = histories(correction, script, n_source, n_target, np.zeros(2), codes)
    assert np.array_equal(printed[0], balanced[0])
    assert np.array_equal(printed[1], balanced[1])


def test_label_cost_against_the_formula_of_section_5_4():
    n_source = 10
    codes = np.array([0, 1] * 5 + [0, 0, 0, 0, 1, 1, 1, 1])
    wrong = np.zeros(18)
    wrong[[10, 14, 15]] = 1  # ε = 3/8, ε_0 = 1/4, ε_1 = 1/2
    rules = Rules(1, "dynamic", label_costs=np.array([2.0, 1.0]))
    done = boost(FromAList([wrong]), codes, n_source, 2, rules)
    expected = [2 * (1 - 3 / 8 * (3 / 4) ** 2), 2 * (1 - 3 / 8 * (1 / 2))]
    np.testing.assert_allclose(done.corrections[0], expected, rtol=1e-14)


def data(seed, n=200, c=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] ** 2 + 0.8 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, c) / c))


@quiet
@pytest.mark.parametrize("c", [2, 4])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "base",
    [
        DecisionTreeClassifier(max_depth=2),
        DecisionTreeClassifier(max_depth=1, splitter="random"),
        GaussianNB(),
        TrimmedTreeClassifier(max_depth=2),
    ],
    ids=["tree", "random stump", "bayes", "trimmed"],
)
def test_without_a_target_it_is_scikit_learns_adaboost(base, c, seed):
    X, y = data(seed, c=c)
    ours = TrAdaBoostClassifier(base, 12, vote="all", random_state=seed).fit(X, y)
    reference = AdaBoostClassifier(base, n_estimators=12, random_state=seed).fit(X, y)
    assert reference.estimator_errors_.min() > 0
    new = np.random.default_rng(99).normal(size=(500, 4))
    assert np.array_equal(ours.predict(new), reference.predict(new))
    np.testing.assert_allclose(ours.errors_, reference.estimator_errors_[: len(ours.errors_)])
    np.testing.assert_allclose(
        ours.estimator_weights_, reference.estimator_weights_[: len(ours.errors_)]
    )


def test_closed_forms_hold_the_papers_figures():
    over_rounds, once = figure_1()
    curves = list(over_rounds.curves.values())
    assert len(curves) == 5
    assert curves[0][0] == 1
    assert curves[0][-1] < 0.001  # ε = 0.1: the source is gone after 20 rounds
    assert (np.diff([curve[-1] for curve in curves]) > 0).all()
    assert next(iter(once.curves.values()))[-1] == pytest.approx(1)  # ε = ½: no drift
    by_rows, by_error = figure_2()
    assert (np.diff([curve[-1] for curve in by_rows.curves.values()]) > 0).all()
    assert (np.diff(next(iter(by_error.curves.values()))) < 0).all()
