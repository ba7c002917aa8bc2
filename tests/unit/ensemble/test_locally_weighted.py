"""The locally weighted ensemble: sources, labelled target rows, new rows, messages."""

import numpy as np
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB

import landbridge as lb
from landbridge.ensemble.locally_weighted import (
    confident_means,
    local_weights,
    purity_beyond_chance,
    similarity_table,
)


class ReadsLabel(ClassifierMixin, BaseEstimator):
    """Its answer stands in a column of X."""

    def __init__(self, column):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, self.column].astype(int)


class ReadsCluster(ClusterMixin, BaseEstimator):
    """The cluster stands in the first column."""

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


def ensemble(n_models=2, **parameters):
    models = [(f"m{k}", ReadsLabel(k)) for k in range(1, n_models + 1)]
    parameters = {"clusterer": ReadsCluster(), "min_purity": 0.0, **parameters}
    return lb.LocallyWeightedEnsemble(models, **parameters)


@pytest.mark.parametrize("seed", range(5))
def test_the_table_counts_the_graphs(seed):
    """Against both graphs written out as matrices of edges, a row being its own neighbour."""
    rng = np.random.default_rng(seed)
    clusters, labels = rng.integers(0, 3, 40), rng.integers(0, 4, 40)
    G_M, G_T = (part[:, None] == part[None, :] for part in (labels, clusters))
    by_graph = 2 * (G_M & G_T).sum(axis=1) / (G_M.sum(axis=1) + G_T.sum(axis=1))
    table = similarity_table(clusters, labels, (3, 4))
    np.testing.assert_allclose(table[clusters, labels], by_graph)


def test_weights_are_shares_and_equal_where_nobody_agrees():
    weights = local_weights(np.array([[0.3, 0.1], [0.0, 0.0]]))
    np.testing.assert_allclose(weights, [[0.75, 0.25], [0.5, 0.5]])


def test_purity_by_hand():
    """One of six rows is in the other cluster: 5/6 against the 4/6 of one cluster for all."""
    labels = np.array([0, 0, 0, 0, 1, 1])
    clusters = np.array([0, 0, 0, 0, 0, 1])
    np.testing.assert_allclose(purity_beyond_chance(clusters, labels), (5 - 4) / (6 - 4))
    assert purity_beyond_chance(labels, labels) == 1.0
    assert purity_beyond_chance(np.zeros(6, dtype=int), labels) == 0.0


def test_clusters_that_do_not_follow_the_classes_are_not_relied_on():
    target = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0]])
    pure, mixed = np.array([[0, 0, 0], [1, 1, 1]]), np.array([[0, 0, 0], [0, 1, 1]])
    X, y, groups = np.vstack([pure, mixed]), [0, 1, 0, 1], ["p", "p", "m", "m"]
    for limit, relied_on in ((0.5, True), (0.51, False)):
        model = ensemble(min_purity=limit).fit(X, y, groups=groups, X_unlabeled=target)
        assert model.purity_ == 0.5  # 1 and 0
        assert (model.clusterer_ is not None) == relied_on
        proba = model.predict_proba(target[1:2])
        np.testing.assert_allclose(proba, [[2 / 3, 1 / 3]] if relied_on else [[0.5, 0.5]])
    of_one_class = ensemble().fit(X, y, groups=y, X_unlabeled=target)
    assert of_one_class.purity_ == 0.0


def test_means_of_confident_rows():
    proba = np.array([[1.0, 0.0], [0.5, 0.5], [0.2, 0.8]])
    means = confident_means(proba, np.array([True, True, False]), np.array([0, 0, 1]), 2)
    np.testing.assert_allclose(means, [[0.75, 0.25], [np.nan, np.nan]])


@pytest.mark.parametrize("seed", range(5))
def test_conflicting_sources_are_told_apart_where_each_is_right(seed):
    """Two sources with tilted borders, right on different sides; their average cannot decide."""
    rng = np.random.default_rng(seed)

    def draw(n, slope):
        X = np.column_stack([rng.choice([-3, 3], n) + rng.normal(0, 0.3, n), rng.uniform(-6, 6, n)])
        return X, (X[:, 0] + slope * X[:, 1] > 0).astype(int)

    (X1, y1), (X2, y2), (X_target, y_target) = draw(200, 1), draw(200, -1), draw(200, 0)
    X, y, groups = np.vstack([X1, X2]), np.concatenate([y1, y2]), np.repeat(["up", "down"], 200)
    model = lb.LocallyWeightedEnsemble(
        [("ridge", RidgeClassifier())], min_purity=0.3, random_state=0
    )
    together = model.fit(X, y, groups=groups, X_unlabeled=X_target).score(X_target, y_target)
    with pytest.warns(lb.NoTargetWarning):
        average = model.fit(X, y, groups=groups).score(X_target, y_target)
    assert together > 0.98
    assert together > average + 0.03


def test_every_estimator_on_every_source():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.tile([0, 1, 2], 30)
    groups = np.repeat(["a", "b", "c"], 30)
    y[groups == "c"] = 1  # a source of one class
    members = [("nb", GaussianNB()), ("rc", RidgeClassifier())]  # one without probabilities
    model = lb.LocallyWeightedEnsemble(members, min_purity=0.0, random_state=0)
    model.fit(X, y, groups=groups, X_unlabeled=X)
    assert model.model_names_ == [f"{n} on {s}" for s in "abc" for n in ("nb", "rc")]
    alone = GaussianNB().fit(X[groups == "b"], y[groups == "b"])
    np.testing.assert_allclose(model.estimators_[2].theta_, alone.theta_)
    assert (model.estimators_[4].predict(X) == 1).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(model.local_weights(X).sum(axis=1), 1.0)
    assert model.similarities_.shape == (6, 4, 3)


def test_labelled_target_rows_join_every_source_and_may_bring_a_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    X_target, y_target = rng.normal(5, 1, (10, 2)), np.full(10, 2)
    model = lb.LocallyWeightedEnsemble([("nb", GaussianNB())], random_state=0)
    model.fit(X, y, X_target=X_target, y_target=y_target)
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.predict(X_target) == 2).all()
    np.testing.assert_allclose(model.estimators_[0].theta_[2], X_target.mean(axis=0))


def test_labelled_target_rows_speak_for_their_cluster():
    """Below the threshold the labelled rows of the cluster decide, whatever the model says."""
    X = np.array([[0, 0], [0, 1]])
    target = np.array([[0, 0], [0, 1], [0, 1], [1, 0], [1, 1]])
    model = ensemble(1, threshold=1.0).fit(
        X, [0, 1], X_target=target[:1], y_target=[1], X_unlabeled=target[1:]
    )
    np.testing.assert_allclose(model.cluster_proba_, [[0, 1], [np.nan] * 2, [np.nan] * 2])
    # Cluster 1 has no confident row and keeps what the model says.
    assert model.predict(target).tolist() == [1, 1, 1, 0, 1]


def test_new_rows_in_a_cluster_without_target_rows_are_averaged():
    X = np.array([[0, 0, 0], [0, 1, 1]])
    model = ensemble().fit(X, [0, 1], X_unlabeled=np.array([[0, 0, 0], [2, 1, 1], [2, 1, 0]]))
    new = np.array([[1, 0, 1], [3, 1, 0], [0, 0, 0]])
    np.testing.assert_allclose(model.local_weights(new)[:2], 0.5)
    np.testing.assert_allclose(model.predict_proba(new), [[0.5, 0.5], [0.5, 0.5], [1, 0]])


def test_without_a_target_it_is_the_plain_average():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    members = [("nb", GaussianNB()), ("lr", LogisticRegression())]
    with pytest.warns(lb.NoTargetWarning, match="the plain average of its models"):
        model = lb.LocallyWeightedEnsemble(members).fit(X, y)
    mean = (members[0][1].fit(X, y).predict_proba(X) + members[1][1].fit(X, y).predict_proba(X)) / 2
    np.testing.assert_allclose(model.predict_proba(X), mean)
    assert (model.local_weights(X) == 0.5).all()
    assert model.purity_ is None


def test_fewer_target_rows_than_clusters():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.tile([0, 1, 2], 10)
    model = lb.LocallyWeightedEnsemble(min_purity=0.0, random_state=0)
    assert model.fit(X, y, X_unlabeled=X[:2]).predict(X).shape == (30,)
    own = lb.LocallyWeightedEnsemble(clusterer=KMeans(4), min_purity=0.0, random_state=0)
    own.fit(X, y, X_unlabeled=X)
    assert own.clusterer_.n_clusters == 4


def test_parameters_of_members_can_be_set_and_searched():
    model = lb.LocallyWeightedEnsemble([("lr", LogisticRegression())]).set_params(lr__C=7.0)
    assert model.get_params()["lr__C"] == 7.0
    assert "lr__C" not in lb.LocallyWeightedEnsemble().get_params()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"threshold": 1.5}, "`threshold` must be between 0 and 1; got 1.5"),
        ({"min_purity": -0.1}, "`min_purity` must be between 0 and 1; got -0.1"),
        (
            {"clusterer": AgglomerativeClustering()},
            "`clusterer` must have a predict method.*got AgglomerativeClustering",
        ),
        ({"estimators": [("a", Ridge())]}, "`estimator` must be a classifier; got Ridge"),
        ({"estimators": []}, "`estimators` must be a list of"),
        ({"estimators": [GaussianNB()]}, "`estimators` must be a list of"),
        ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, "with different names"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        lb.LocallyWeightedEnsemble(**parameters).fit([[0.0], [1.0]], [0, 1], X_unlabeled=[[0.0]])


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match="`groups` must name the source of each of the 2 rows"):
        lb.LocallyWeightedEnsemble().fit([[0.0], [1.0]], [0, 1], groups=["a"])


def test_the_number_of_jobs_of_joblib_changes_no_digit():
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(700, 12)), rng.normal(0.3, 1, size=(500, 12))
    y = (X[:, 0] > 0).astype(int)

    def predict():
        model = lb.LocallyWeightedEnsemble(random_state=0).fit(X, y, X_unlabeled=X_target)
        return model.predict_proba(X_target)

    expected = predict()
    for _ in range(3):
        with parallel_config(backend="threading", n_jobs=2):
            assert np.array_equal(predict(), expected)


def test_sparse_rows_get_the_predictions_of_dense_rows():
    """0/1 features have many rows at the same distance from two centres."""
    rng = np.random.default_rng(3)
    X, X_target = (rng.normal(size=(n, 12)) > 0.5 for n in (200, 60))
    X, X_target = X.astype(float), X_target.astype(float)
    y = (X[:, 0] + X[:, 1] * rng.random(200) > 0.7).astype(int)
    answers = []
    for form in (np.asarray, csr_array):
        model = lb.LocallyWeightedEnsemble(
            [("linear", LogisticRegression())], min_purity=0.0, random_state=0
        )
        groups = np.repeat(["a", "b", "c", "d"], 50)
        model.fit(form(X), y, groups=groups, X_unlabeled=form(X_target))
        answers.append(model.predict_proba(form(X_target)))
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-9)
