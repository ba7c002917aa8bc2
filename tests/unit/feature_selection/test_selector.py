import pickle
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, get_scorer, r2_score

import landbridge as lb
from landbridge import TGreedySelector


def sample(seed=0, n_domains=6, n_rows=80, p=7):
    rng = np.random.default_rng(seed)
    groups = np.repeat([f"site {k}" for k in range(n_domains)], n_rows)
    X = rng.normal(size=(groups.size, p)) + 2 * (np.arange(p) != 2)
    changing = np.repeat(np.resize([2.0, -1.5, 1.5], n_domains), n_rows)
    y = X[:, 0] + 0.7 * X[:, 1] + changing * X[:, 2] + rng.normal(size=groups.size)
    return X, y, groups


def same_path(first, second, rtol=1e-10):
    assert first.path_.feature.tolist() == second.path_.feature.tolist()
    assert first.n_steps_ == second.n_steps_
    for name in ("T", "weight", "effects", "loss", "held_out_loss"):
        one, other = getattr(first.path_, name), getattr(second.path_, name)
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(first.intercept_, second.intercept_, rtol=rtol, atol=rtol)


def streamed(X, y, groups, order, n_batches=5, **params):
    model = TGreedySelector(**params)
    for part in np.array_split(order, n_batches):
        model.partial_fit(X[part], y[part], groups=groups[part])
    return model


@pytest.mark.parametrize("criterion", ["t", "t_signed", "loss", "gate"])
@pytest.mark.parametrize("classes", [None, ["no", "yes"]])
def test_stream_batch_shuffle_and_merge_agree(criterion, classes):
    X, y, groups = sample()
    if classes:
        y = np.array(classes)[(y > np.median(y)).astype(int)]
    batch = TGreedySelector(criterion).fit(X, y, groups=groups)
    rng = np.random.default_rng(1)
    stream = streamed(X, y, groups, np.arange(y.size), criterion=criterion)
    shuffled = streamed(X, y, groups, rng.permutation(y.size), criterion=criterion)
    by_label = np.argsort(y, kind="stable")[::-1]  # the first batches hold one class only
    sorted_ = streamed(X, y, groups, by_label, criterion=criterion)
    here = streamed(X, y, groups, by_label[: y.size // 2], criterion=criterion)
    there = streamed(X, y, groups, by_label[y.size // 2 :], criterion=criterion)
    for other in (stream, shuffled, sorted_, here.merge(there)):
        same_path(other, batch)
        assert np.array_equal(other.predict(X[:20]), batch.predict(X[:20])) or classes is None


def test_invariant_features_come_first():
    X, y, groups = sample()
    model = TGreedySelector(n_features=2).fit(X, y, groups=groups)
    assert model.get_support(indices=True).tolist() == [0, 1]
    assert model.transform(X).shape == (480, 2)
    assert model.get_feature_names_out().tolist() == ["x0", "x1"]
    # A larger effect that differs from site to site is what greedy selection falls for.
    y = y + np.repeat([9.0, -2, 8, 7, -3, 6], 80) * X[:, 3]
    assert not TGreedySelector(n_features=1).fit(X, y, groups=groups).get_support()[3]
    assert TGreedySelector("loss", n_features=1).fit(X, y, groups=groups).get_support()[3]


def test_path_is_complete():
    X, y, groups = sample()
    path = TGreedySelector().fit(X, y, groups=groups).path_
    n = len(path)
    for values, n_rows in ((path.effects, n), (path.loss, n + 1), (path.held_out_loss, n + 1)):
        assert values.shape == (n_rows, 6)
        assert np.isfinite(values).all()
    np.testing.assert_allclose(path.effects.mean(axis=1), path.effect)
    assert (path.bound > 0).all()
    assert not path.bound_holds.any()
    assert path.domains.tolist() == [f"site {k}" for k in range(6)]
    assert "7 steps" in repr(path)
    assert path.n_kept == path.held_out_loss.mean(axis=1).argmin()


def test_held_out_losses_only_where_asked_for():
    X, y, groups = sample()
    path = TGreedySelector(stop="bonferroni").fit(X, y, groups=groups).path_
    assert np.isnan(path.held_out_loss).all()
    assert len(path) > path.n_kept


def test_regression_predicts_numbers_and_scores_r2():
    X, y, groups = sample()
    model = TGreedySelector().fit(X, y, groups=groups)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_)
    assert model.score(X, y) == r2_score(y, model.predict(X))
    assert is_regressor(model)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "decision_function")


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True], [2.0, 5.0]])
def test_two_classes_under_any_name(labels):
    X, y, groups = sample()
    named = np.array(labels)[(y > np.median(y)).astype(int)]
    model = TGreedySelector().fit(X, named, groups=groups)
    signs = TGreedySelector().fit(X, np.where(named == labels[1], 1, -1), groups=groups)
    np.testing.assert_allclose(model.coef_, signs.coef_, rtol=1e-9)
    assert np.array_equal(model.classes_, labels)
    assert np.array_equal(model.predict(X), np.array(labels)[(model.decision_function(X) > 0) * 1])
    assert model.score(X, named) == accuracy_score(named, model.predict(X))
    assert is_classifier(model)
    assert get_scorer("roc_auc")(model, X, named == labels[1]) > 0.5 or labels[0] == "no"


def test_object_labels_that_are_numbers_are_numbers():
    X, y, groups = sample()
    model = TGreedySelector().fit(X, y.astype(object), groups=groups)
    same_path(model, TGreedySelector().fit(X, y, groups=groups))


def test_lazy_products_give_the_answer_of_full_ones():
    X, y, groups = sample(p=60)
    lazy = TGreedySelector(stop=None, max_steps=20).fit(X, y, groups=groups)
    full = streamed(X, y, groups, np.arange(y.size), stop=None, max_steps=20)
    same_path(lazy, full)
    thin = TGreedySelector(stop=None, max_steps=20).fit(sparse.csr_array(X), y, groups=groups)
    same_path(thin, full)


def test_dtype_sets_the_precision_of_the_products():
    X, y, groups = sample(p=60)
    double = TGreedySelector(stop=None, max_steps=5).fit(X, y, groups=groups)
    single = TGreedySelector(stop=None, max_steps=5, dtype="float32").fit(X, y, groups=groups)
    assert single.path_.feature.tolist() == double.path_.feature.tolist()
    assert 0 < np.abs(single.coef_ - double.coef_).max() < 1e-4
    stream = streamed(X, y, groups, np.arange(y.size), stop=None, max_steps=5, dtype="float32")
    assert stream.moments_.precision == np.float32


def test_fit_forgets_a_stream_and_a_stream_forgets_a_fit():
    X, y, groups = sample()
    model = streamed(X[:, ::-1] * 2, y, groups, np.arange(y.size))
    model.fit(X, y, groups=groups)
    assert not hasattr(model, "moments_")
    model.partial_fit(X, y, groups=groups)
    same_path(model, TGreedySelector().fit(X, y, groups=groups))


def test_a_stream_can_be_saved_in_the_middle():
    X, y, groups = sample()
    half = streamed(X, y, groups, np.arange(200))
    revived = pickle.loads(pickle.dumps(half))  # noqa: S301
    revived.partial_fit(X[200:], y[200:], groups=groups[200:])
    same_path(revived, TGreedySelector().fit(X, y, groups=groups))


def test_asking_in_the_middle_of_a_stream_changes_nothing():
    X, y, groups = sample()
    model = TGreedySelector()
    for part in np.array_split(np.random.default_rng(0).permutation(y.size), 3):
        model.partial_fit(X[part], y[part], groups=groups[part])
        model.predict(X)
    same_path(model, TGreedySelector().fit(X, y, groups=groups))


def test_two_domains_warn_and_work():
    X, y, groups = sample(n_domains=2)
    with pytest.warns(lb.FewSourcesWarning, match="one degree of freedom"):
        model = TGreedySelector(n_features=1).fit(X, y, groups=groups)
    assert np.isfinite(model.path_.held_out_loss).all()


@pytest.mark.parametrize("stop", ["domain", "bonferroni", "bound"])
@pytest.mark.filterwarnings("ignore::landbridge.ConditionWarning")
def test_nothing_selected_is_said(stop):
    rng = np.random.default_rng(4)
    codes = np.arange(1200) % 6
    X = rng.normal(size=(1200, 2))
    y = np.where(codes % 2, 3, -3) * X[:, 0]  # whatever is learned is wrong in the next domain
    with pytest.warns(lb.NothingSelectedWarning, match=f"No feature was selected.*{stop}"):
        model = TGreedySelector(stop=stop).fit(X, y, groups=codes)
    assert not model.get_support().any()
    assert np.ptp(model.predict(X)) == 0


def test_a_loss_that_only_grows_elsewhere_is_the_reason_for_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.repeat([1.0, 30.0], 100) * X[:, 0] + 30 * rng.normal(size=200)
    with (
        pytest.warns(lb.FewSourcesWarning),
        pytest.warns(lb.NothingSelectedWarning, match="no step lowers the average loss on held"),
    ):
        path = TGreedySelector().fit(X, y, groups=np.repeat([0, 1], 100)).path_
    assert len(path) > 0


def test_more_steps_than_features_warn():
    X, y, groups = sample()
    with pytest.warns(lb.LandbridgeWarning, match="max_steps=20 is more than the 7 features"):
        TGreedySelector(max_steps=20).fit(X, y, groups=groups)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"criterion": "best"},
            "`criterion` must be one of 't', 't_signed', 'loss', 'gate'; got 'best'",
        ),
        ({"stop": "never"}, "`stop` must be one of"),
        ({"refit": "ridge"}, "`refit` must be one of"),
        ({"dtype": "float16"}, "`dtype` must be one of"),
        ({"alpha": 1.5}, "`alpha` must be between 0 and 1; got 1.5"),
        ({"n_features": 0}, "`n_features` must be a whole number of at least 1 or None; got 0"),
        ({"max_steps": 2.5}, "`max_steps` must be a whole number of at least 1 or None; got 2.5"),
        ({"n_features": 8}, "`n_features` must be at most the number of columns of X, 7; got 8"),
    ],
)
def test_bad_parameters(params, message):
    X, y, groups = sample()
    with pytest.raises(ValueError, match=message):
        TGreedySelector(**params).fit(X, y, groups=groups)


def test_bad_rows():
    X, y, groups = sample()
    fit = TGreedySelector().fit
    with pytest.raises(ValueError, match="`groups` must name the source of each row; got None"):
        fit(X, y)
    with pytest.raises(ValueError, match="at least two domains; got one, 'a'"):
        fit(X, y, groups=np.repeat("a", y.size))
    with pytest.raises(ValueError, match=r"at least two rows per domain; got one row in \['z'\]"):
        fit(X, y, groups=np.r_[["z"], groups[1:]])
    with pytest.raises(ValueError, match=r"got one class or number, 1.0, in every row"):
        fit(X, np.ones_like(y), groups=groups)
    with pytest.raises(ValueError, match="numbers or two classes; got the classes"):
        fit(X, np.resize(["a", "b", "c"], y.size), groups=groups)


def test_bad_batches():
    X, y, groups = sample()
    model = TGreedySelector().partial_fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="X has 6 features, but TGreedySelector is expecting 7"):
        model.partial_fit(X[:, :6], y, groups=groups)
    with pytest.raises(ValueError, match="one label for each of the 480 rows of X; got 479"):
        model.partial_fit(X, y[:-1], groups=groups)
    with pytest.raises(ValueError, match="`groups` must name the source of each row"):
        model.partial_fit(X, y)
    same_path(model, TGreedySelector().fit(X, y, groups=groups))


def test_bad_merges():
    X, y, groups = sample()
    filled = TGreedySelector().partial_fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="Selectors must be fitted with partial_fit"):
        filled.merge(TGreedySelector().fit(X, y, groups=groups))
    import pandas as pd

    here = TGreedySelector().partial_fit(pd.DataFrame(X).add_prefix("a"), y, groups=groups)
    there = TGreedySelector().partial_fit(pd.DataFrame(X).add_prefix("b"), y, groups=groups)
    with pytest.raises(ValueError, match="must have the same columns to be merged; got"):
        here.merge(there)


def test_parameters_of_a_stream_are_checked_when_its_path_is():
    X, y, groups = sample()
    model = TGreedySelector().partial_fit(X, y, groups=groups).set_params(criterion="best")
    with pytest.raises(
        ValueError, match="`criterion` must be one of 't', 't_signed', 'loss', 'gate'"
    ):
        _ = model.coef_


@pytest.mark.parametrize("kind", [bool, int])
def test_classes_that_come_as_objects_keep_their_type(kind):
    X, y, groups = sample()
    labels = (y > np.median(y)).astype(kind)
    model = TGreedySelector().fit(X, labels.astype(object), groups=groups)
    assert model.classes_.dtype == kind
    assert model.score(X, labels.astype(object)) == accuracy_score(labels, model.predict(X))


def test_decimals_are_numbers():
    X, y, groups = sample()
    y = y.round(3)
    model = TGreedySelector().fit(X, [Decimal(str(value)) for value in y], groups=groups)
    same_path(model, TGreedySelector().fit(X, y, groups=groups))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "`y` must have one label for each of the 480 rows of X; got None"),
        (np.resize(np.array(["a", None, "b"], dtype=object), 480), "got 160 missing, the first in"),
        (np.resize(np.array(["a", "b", 1], dtype=object), 480), "or numbers in every row; got 'a'"),
        (np.full(480, np.nan), "Input y contains NaN. `y` must hold a label for every row of X"),
    ],
)
def test_bad_labels_of_a_further_batch(y, message):
    X, _, groups = sample()
    model = TGreedySelector().partial_fit(X, np.resize(["a", "b"], 480), groups=groups)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, groups=groups)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")
def test_squares_that_are_too_large_are_said(lazy):
    X, y, groups = sample()
    params = {"stop": None, "max_steps": 1} if lazy else {}
    fit = TGreedySelector(**params).fit
    single = X.astype(np.float32)
    single[:, 3] *= 1e25
    with pytest.raises(ValueError, match="1e38 in single precision; got larger ones in column 3"):
        TGreedySelector(dtype="float32", **params).fit(single, y, groups=groups)
    with pytest.raises(ValueError, match="`y` must hold numbers of at most 1e"):
        fit(X, y * 1e200, groups=groups)
    selected = fit(single, y, groups=groups).get_support()  # in double precision
    np.testing.assert_array_equal(selected, fit(X, y, groups=groups).get_support())


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_steps": 2, "n_features": 3}, "only 2 were selected: the path ended after 2 steps"),
        ({"criterion": "gate", "n_features": 7}, "selected: no other effect passes the gate"),
        ({"criterion": "t_signed", "n_features": 7}, "selected: no other effect is positive"),
        ({"n_features": 7}, "only 6 were selected: the other features are constant or redundant"),
    ],
)
def test_fewer_features_than_asked_for_are_said(params, message):
    X, y, groups = sample()
    X[:, 6] = 1.0
    with pytest.warns(lb.LandbridgeWarning, match=message):
        TGreedySelector(refit="ols", **params).fit(X, y, groups=groups)


def test_why_nothing_was_selected():
    X, y, groups = sample()
    with pytest.warns(lb.NothingSelectedWarning, match="Increase alpha to let more effects pass"):
        TGreedySelector("gate", n_features=2, alpha=1e-12).fit(X, y, groups=groups)
    with pytest.warns(lb.NothingSelectedWarning, match="criterion='t', which accepts effects"):
        TGreedySelector("t_signed", n_features=1).fit(X[:, :1], -X[:, 0], groups=groups)
    with pytest.warns(lb.NothingSelectedWarning, match="no column is correlated with y"):
        TGreedySelector(n_features=2).fit(np.ones_like(X), y, groups=groups)


@pytest.mark.parametrize("stop", ["domain", "bound"])
def test_warnings_name_the_line_that_fits(stop):
    X, y, groups = sample(n_domains=2)
    with pytest.warns(lb.LandbridgeWarning) as caught:
        TGreedySelector(stop=stop).fit(X, y, groups=groups)
    assert {warning.filename for warning in caught} == {__file__}


def test_without_centring_there_is_no_intercept_and_a_constant_is_a_feature():
    X, y, groups = sample()
    ones = np.column_stack([X, np.ones(len(X))])
    model = TGreedySelector("loss", center=False, n_features=8, refit="ols", stop=None)
    model.fit(ones, y + 100.0, groups=groups)
    assert model.intercept_ == 0.0
    assert model.coef_[-1] == pytest.approx(100.0, abs=5.0)
    centred = TGreedySelector("loss", n_features=7, refit="ols", stop=None)
    centred.fit(X, y + 100.0, groups=groups)
    np.testing.assert_allclose(model.predict(ones), centred.predict(X), atol=1e-6)


def test_centring_is_yes_or_no():
    X, y, groups = sample()
    with pytest.raises(ValueError, match="`center` must be one of True, False; got 'yes'"):
        TGreedySelector(center="yes").fit(X, y, groups=groups)
