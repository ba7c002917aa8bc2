"""Masked values are refused by every function and search that takes arrays.

The common tests do the same for every estimator.
"""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import landbridge as lb
from landbridge import inference, inspection, labelling, metrics, model_selection, weighting

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)
LOSSES = RNG.random((2, 60))
GROUPS = np.repeat(np.arange(4), 15)
WEIGHT = RNG.random(60) + 0.5
PROBABILITIES = np.column_stack([1 - LOSSES[0], LOSSES[0]])
(ACCURACY,) = metrics.check_scoring("accuracy", task="classification", classes=[0, 1])
TARGET = {"X_target": X[:20], "y_target": Y[:20], "X_unlabeled": X[20:40]}
CALLS = {
    "diagnose_shift": (
        inspection.diagnose_shift,
        {"X": X, "X_target": X[:30], "y": Y, "y_target": Y[:30]},
    ),
    "explain_loss": (
        inspection.explain_loss,
        {"X": X, "y": Y, "X_target": X[:30], "y_target": Y[:30], "task": "classification"},
    ),
    "check_labels": (inspection.check_labels, {"X_labelled": X, "X_unlabelled": X[:30]}),
    "score": (ACCURACY.score, {"y": Y, "predictions": PROBABILITIES, "sample_weight": WEIGHT}),
    "pointwise": (ACCURACY.pointwise, {"y": Y, "predictions": PROBABILITIES}),
    "replicates": (
        ACCURACY.replicates,
        {"y": Y, "predictions": PROBABILITIES[None], "weights": WEIGHT[None]},
    ),
    "metric_interval": (
        metrics.metric_interval,
        {"metric": ACCURACY, "y": Y, "predictions": PROBABILITIES, "sample_weight": WEIGHT},
    ),
    "paired_probability": (
        metrics.paired_probability,
        {"metric": ACCURACY, "y": Y, "predictions": np.stack([PROBABILITIES] * 2)},
    ),
    "class_report": (
        metrics.class_report,
        {"y": Y, "predictions": PROBABILITIES, "classes": np.array([0, 1])},
    ),
    "interval": (inference.interval, {"losses": LOSSES[0], "groups": GROUPS}),
    "cv_variance": (inference.cv_variance, {"losses": LOSSES[0], "groups": GROUPS}),
    "summarise_sources": (
        inference.summarise_sources,
        {"losses": LOSSES[0], "groups": GROUPS, "sample_weight": WEIGHT},
    ),
    "paired_test": (
        inference.paired_test,
        {"losses_a": LOSSES[0], "losses_b": LOSSES[1], "groups": GROUPS},
    ),
    "friedman_test": (inference.friedman_test, {"losses": LOSSES[:, :30].T}),
    "agreement_interval": (inference.agreement_interval, {"predicted": np.stack([Y, 1 - Y, Y])}),
    "generalization_bound": (
        inference.generalization_bound,
        {"losses": LOSSES[0], "vc_dimension": 2},
    ),
    "e_value": (inference.e_value, {"differences": LOSSES[0] - 0.5, "bound": 1.0}),
    "holm": (inference.holm, {"p_values": LOSSES[0]}),
    "effective_sample_size": (weighting.effective_sample_size, {"weights": WEIGHT}),
    "rank_agreement": (model_selection.rank_agreement, {"accuracy": LOSSES[0], "score": LOSSES[1]}),
    "ask_from_predictions": (
        labelling.ask_from_predictions,
        {"predictions": np.stack([PROBABILITIES] * 2)},
    ),
    "MultiSourceCV": (
        lb.MultiSourceCV(GaussianNB()).fit,
        {"X": X, "y": Y, "groups": GROUPS, "sample_weight": WEIGHT},
    ),
    "compare_estimators": (
        lambda **given: lb.compare_estimators(GaussianNB(), LogisticRegression(), **given),
        {"X": X, "y": Y, "groups": GROUPS},
    ),
    "transfer_cross_validate": (
        lambda **given: model_selection.transfer_cross_validate(GaussianNB(), **given),
        {"X": X, "y": Y, **TARGET},
    ),
}


def masked(values):
    """The values with one of them masked."""
    rows = np.ma.masked_array(values)
    rows[(0,) * rows.ndim] = np.ma.masked
    return rows


@pytest.mark.parametrize("name", CALLS)
def test_masked_values_are_refused_by_the_name_of_the_argument(name):
    call, given = CALLS[name]
    for key, values in given.items():
        if isinstance(values, np.ndarray) and values.size > 2:
            with pytest.raises(ValueError, match=f"`{key}` must have no masked values; got 1"):
                call(**{**given, key: masked(values)})


@pytest.mark.parametrize("refit", ["vote", "best"])
def test_a_search_predicts_no_masked_rows(refit):
    candidates = {"nb": GaussianNB(), "pooled": lb.Pooled(LogisticRegression())}
    search = lb.TransferSearchCV(candidates, cv=2, refit=refit, random_state=0)
    search.fit(X, Y, **TARGET)
    for method in ("predict", "predict_proba"):
        with pytest.raises(ValueError, match="`X` must have no masked values"):
            getattr(search, method)(masked(X))
    with pytest.raises(ValueError, match="`y` must have no masked values"):
        search.score(X, masked(Y))
    if refit == "vote":
        for call in (search.vote_.predict, search.vote_.predict_proba):
            with pytest.raises(ValueError, match="`X` must have no masked values"):
                call(masked(X))


def test_arrays_whose_mask_is_empty_are_arrays():
    rows = np.ma.masked_array(X)
    found = lb.MultiSourceCV(GaussianNB()).fit(rows, np.ma.masked_array(Y), groups=GROUPS).result_
    plain = lb.MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    np.testing.assert_array_equal(found.probabilities, plain.probabilities)


def test_the_message_says_where_and_what_to_do():
    rows = np.ma.masked_array(X, mask=X > 1.5)
    n, first = rows.mask.sum(), np.argwhere(rows.mask)[0].tolist()
    with pytest.raises(ValueError, match="masked") as said:
        lb.Pooled(GaussianNB()).fit(rows, Y)
    assert str(said.value) == (
        f"`X` must have no masked values; got {n}, the first at position {first}. Fill them with "
        "X.filled(value), or leave out those rows."
    )
