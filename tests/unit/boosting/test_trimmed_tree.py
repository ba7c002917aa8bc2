"""`TrimmedTreeClassifier` as a tree of its own."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import landbridge as lb
from landbridge import TrimmedTreeClassifier
from landbridge.boosting.trimmed_tree import auto_error

quiet = pytest.mark.filterwarnings("ignore::landbridge.NoTargetWarning")


def problem(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 4)), 2)
    return X, np.where(X[:, 0] + 0.4 * rng.normal(size=n) > 0, "yes", "no")


@quiet
@pytest.mark.parametrize("depth", [2, 5])
def test_without_a_target_it_is_scikit_learns_tree(depth):
    X, y = problem()
    weights = np.random.default_rng(1).exponential(size=150)
    ours = TrimmedTreeClassifier(depth).fit(X, y, sample_weight=weights)
    reference = DecisionTreeClassifier(max_depth=depth, random_state=0)
    reference.fit(X, y, sample_weight=weights)
    # Deep in a tree, splits on different features part the training rows alike: compare there.
    new = X if depth > 2 else np.random.default_rng(2).normal(size=(400, 4))
    assert np.array_equal(ours.predict(new), reference.predict(new))
    np.testing.assert_allclose(ours.predict_proba(new), reference.predict_proba(new), atol=1e-9)
    if depth == 2:
        assert ours.get_n_leaves() == reference.get_n_leaves()
        np.testing.assert_allclose(
            ours.feature_importances_, reference.feature_importances_, atol=1e-9
        )
    assert ours.get_depth() == reference.get_depth()


def test_apply_tells_leaves():
    X, y = problem()
    tree = TrimmedTreeClassifier().fit(X[:100], y[:100], X_target=X[100:], y_target=y[100:])
    leaves = tree.apply(X)
    assert set(leaves) <= set(np.flatnonzero(tree.tree_.feature == -1))
    assert np.bincount(leaves)[leaves].tolist() == tree.tree_.n_rows[leaves].tolist()


def test_the_target_trims_the_tree():
    X, y = problem(3, n=300)
    trimmed = TrimmedTreeClassifier().fit(X[:250], y[:250], X_target=X[250:], y_target=y[250:])
    full = TrimmedTreeClassifier(target_error=None).fit(
        X[:250], y[:250], X_target=X[250:], y_target=y[250:]
    )
    assert trimmed.get_depth() == 1 < full.get_depth()
    assert (trimmed.predict(X[250:]) != y[250:]).mean() < 0.5


@pytest.mark.parametrize(("n_target", "error"), [(1, 0.5), (9, 0.5), (25, 0.3), (100, 0.15)])
def test_auto_asks_for_less_error_where_target_rows_are_more(n_target, error):
    X, y = problem(n=150 + n_target)
    target = {"X_target": X[150:], "y_target": y[150:]}
    auto = TrimmedTreeClassifier(target_error="auto").fit(X[:150], y[:150], **target)
    named = TrimmedTreeClassifier(target_error=error).fit(X[:150], y[:150], **target)
    assert np.array_equal(auto.tree_.feature, named.tree_.feature)
    assert auto.score(X[150:], y[150:]) > 1 - error


def test_a_constant_column_has_no_importance_and_a_leaf_alone_has_none():
    X = np.ones((12, 2))
    tree = TrimmedTreeClassifier().fit(X, [0, 1] * 6, X_target=X, y_target=[0, 1] * 6)
    assert tree.get_n_leaves() == 1
    assert tree.feature_importances_.tolist() == [0.0, 0.0]


def test_no_target_warns():
    X, y = problem()
    with pytest.warns(lb.NoTargetWarning, match="a full classification tree"):
        TrimmedTreeClassifier().fit(X, y)


@quiet
def test_rows_of_weight_zero_are_as_good_as_absent():
    X, y = problem()
    weights = (np.arange(150) % 3 > 0).astype(float)
    with_zeros = TrimmedTreeClassifier().fit(X, y, sample_weight=weights)
    without = TrimmedTreeClassifier().fit(X[weights > 0], y[weights > 0])
    assert np.array_equal(with_zeros.tree_.threshold, without.tree_.threshold)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 0}, "`max_depth` must be a whole number of at least 1 or None; got 0"),
        ({"max_depth": 1.5}, "`max_depth` must be a whole number"),
        ({"target_error": 0.0}, "`target_error` must be between 0 and 1, 'auto' or None; got"),
        ({"target_error": "low"}, "'auto' or None; got 'low'. Use 0.5 to trim as in the paper"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        TrimmedTreeClassifier(**parameters).fit(*problem())


def test_the_error_to_reach_falls_with_the_number_of_target_rows():
    assert [auto_error(m) for m in (0, 1, 9)] == [0.5, 0.5, 0.5]
    assert auto_error(36) == pytest.approx(0.25)
    assert auto_error(900) == pytest.approx(0.05)
