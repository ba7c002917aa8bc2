import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from landbridge import NothingSelectedWarning, SimilarityLearner, TGreedySelector
from landbridge.feature_selection.similarity import draw_pairs


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_pairs_are_what_they_say():
    codes = np.random.default_rng(0).integers(0, 4, 60)
    first, second, same, domain = draw_pairs(codes, 50, np.random.RandomState(0))
    assert np.array_equal(codes[first] == codes[second], same > 0)
    assert np.array_equal(codes[first], domain)
    assert (first != second).all()
    assert np.bincount(domain).tolist() == [100] * 4
    assert same.sum() == 0


def test_similarity_holds_for_classes_never_shown(digits):
    X, y = digits
    for new in ([8, 9], [0, 1]):
        known = ~np.isin(y, new)
        learner = SimilarityLearner(TGreedySelector("gate"), n_pairs=300, random_state=0)
        learner.fit(X[known], y[known])
        rows, labels = X[~known][:150], y[~known][:150]
        values = learner.similarity(rows)
        pairs = np.triu_indices(len(rows), 1)
        same = labels[pairs[0]] == labels[pairs[1]]
        assert roc_auc_score(same, values[pairs]) > 0.7
        assert learner.classes_.tolist() == [c for c in range(10) if c not in new]


def test_transform_and_similarity_agree(digits):
    X, y = digits
    learner = SimilarityLearner(TGreedySelector("gate"), n_pairs=100, random_state=0).fit(X, y)
    A, B = X[:5], X[5:12]
    means = X.mean(axis=0)
    expected = ((A - means) * learner.coef_) @ (B - means).T + learner.intercept_
    np.testing.assert_allclose(learner.similarity(A, B), expected)
    signs = np.sign(learner.coef_[learner.coef_ != 0])
    inner = (learner.transform(A) * signs) @ learner.transform(B).T + learner.intercept_
    np.testing.assert_allclose(inner, expected)
    np.testing.assert_allclose(learner.similarity(A), learner.similarity(A, A))
    np.testing.assert_allclose(learner.similarity(sparse.csr_array(A), B), expected)


def test_an_offset_of_the_features_is_taken_off_unless_told_otherwise(digits):
    X, y = digits
    selector = TGreedySelector("gate", max_steps=20)
    plain = SimilarityLearner(selector, n_pairs=100, random_state=0).fit(X, y)
    moved = SimilarityLearner(selector, n_pairs=100, random_state=0).fit(X + 50, y)
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(moved.similarity(X[:9] + 50), plain.similarity(X[:9]), rtol=1e-6)
    raw = SimilarityLearner(selector, n_pairs=100, random_state=0, center=False)
    with pytest.warns(NothingSelectedWarning, match="no effect is consistent across domains"):
        raw.fit(X + 50, y)
    assert not raw.center_.any()


def test_sparse_rows_are_multiplied_as_they_are(digits):
    X, y = digits
    rows = sparse.csr_array(np.where(X > 1, X, 0.0))
    selector = TGreedySelector("loss", max_steps=20)
    raw = SimilarityLearner(selector, n_pairs=100, random_state=0, center=False)
    expected = raw.fit(rows.toarray(), y).similarity(rows.toarray()[:9])
    np.testing.assert_allclose(raw.fit(rows, y).similarity(rows[:9]), expected, atol=1e-9)
    with pytest.raises(TypeError, match="`center` must be False for sparse rows"):
        raw.set_params(center=True).fit(rows, y)


def test_the_selector_of_the_caller_is_left_alone(digits):
    X, y = digits
    selector = TGreedySelector(n_features=3)
    SimilarityLearner(selector, n_pairs=50, random_state=0).fit(X, y)
    assert not hasattr(selector, "coef_")


def test_bad_input(digits):
    X, y = digits
    with pytest.raises(ValueError, match="`n_pairs` must be a whole number of at least 2; got 1"):
        SimilarityLearner(n_pairs=1).fit(X, y)
    lonely = np.where(np.arange(y.size) == 5, 77, y)
    with pytest.raises(ValueError, match=r"at least two rows per class; got one row for \[77\]"):
        SimilarityLearner().fit(X, lonely)


@pytest.mark.parametrize("selector", ["gate", TGreedySelector, StandardScaler()])
def test_products_are_chosen_by_a_t_greedy_selector(digits, selector):
    with pytest.raises(TypeError, match="`selector` must be a TGreedySelector or None; got"):
        SimilarityLearner(selector, n_pairs=10).fit(*digits)
