"""The split of a change of loss: the identity, the weights, causes and advice."""

import numpy as np
import pytest
from scipy import sparse

from landbridge.inspection import explain_loss
from landbridge.inspection import loss_split as module
from landbridge.inspection.loss_split import Advice, Cause, LossPart, LossSplit


def test_the_parts_add_up_and_use_the_weights_of_the_shared_rows():
    rng = np.random.default_rng(0)
    losses = rng.random(30), rng.random(20) + 0.2
    weights = rng.random(30), rng.random(20)
    (total, features, relation), replicates = module._parts(losses, weights, 0)
    shared = [np.average(loss, weights=w) for loss, w in zip(losses, weights, strict=True)]
    assert total == pytest.approx(losses[1].mean() - losses[0].mean())
    assert relation == pytest.approx(shared[1] - shared[0])
    in_source, in_target = shared[0] - losses[0].mean(), losses[1].mean() - shared[1]
    assert features == pytest.approx(in_source + in_target)
    assert features + relation == pytest.approx(total)
    assert replicates.shape == (3, module.N_REPLICATES)
    expected = np.sqrt(losses[0].var() / 31 + losses[1].var() / 21)
    assert replicates[0].std() == pytest.approx(expected, rel=0.1)


def split_of(*rows_and_losses):
    return module.split_loss(*rows_and_losses, level=0.9, loss_name="loss", seed=0)


def test_source_rows_like_the_target_weigh_most(monkeypatch):
    # One column decides everything: losses differ by its value alone, so nothing but X moved.
    X, T = np.repeat([0.0, 1.0], [40, 10])[:, None], np.repeat([0.0, 1.0], [10, 40])[:, None]
    # P(target | x) between balanced domains: 0.2 at x = 0, 0.8 at x = 1.
    share = np.where(np.concatenate([X, T]).ravel() == 0, 0.2, 0.8)
    monkeypatch.setattr(module, "target_share", lambda *arguments: share)
    found = split_of(X, X.ravel(), T, T.ravel())
    assert found.total.value == pytest.approx(0.6)
    assert found.relation.value == pytest.approx(0)
    assert found.features.value == pytest.approx(0.6)
    assert found.cause is Cause.FEATURES
    assert found.advice is Advice.REWEIGHT
    # Odds of the source: 4 at x = 0 (counted as 1) and 1/4 at x = 1.
    assert found.overlap == pytest.approx(0.2 + 0.8 * 0.25)


def test_a_change_at_the_same_rows_is_one_of_the_relation():
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(200, 2)), rng.normal(size=(100, 2))
    found = split_of(X, (rng.random(200) < 0.1) * 1.0, T, (rng.random(100) < 0.5) * 1.0)
    assert found.cause is Cause.RELATION
    assert found.advice is Advice.LABEL
    assert "changed relation" in str(found)
    ends = found.total
    assert f": {ends.value:+.3f} (90 % between {ends.low:+.3f} and {ends.high:+.3f}). " in str(
        found
    )
    same = split_of(
        sparse.csr_matrix(X), np.tile([0.0, 1], 100), sparse.csr_matrix(T), np.tile([1.0, 0], 50)
    )
    assert same.cause is Cause.NONE
    assert same.advice is Advice.STOP


def split(features, relation, *, total=0.5, overlap=0.9):
    make = LossPart
    return LossSplit(
        source=0.1,
        target=0.6,
        total=make(total, total - 0.1, total + 0.1),
        features=make(features, features - 0.1, features + 0.1),
        relation=make(relation, relation - 0.1, relation + 0.1),
        overlap=overlap,
        level=0.9,
    )


@pytest.mark.parametrize(
    ("found", "cause", "advice"),
    [
        (split(0.4, 0.1), Cause.FEATURES, Advice.REWEIGHT),
        (split(0.4, 0.1, overlap=0.1), Cause.FEATURES, Advice.LABEL),
        (split(0.1, 0.4), Cause.RELATION, Advice.LABEL),
        (split(0.2, 0.3), Cause.RELATION, Advice.LABEL),
        (split(0.05, 0.05), Cause.UNCLEAR, Advice.LABEL),
        (split(0.0, 0.0, total=0.0), Cause.NONE, Advice.STOP),
        (split(-0.4, 0.0, total=-0.4), Cause.FEATURES, Advice.STOP),
        (split(0.4, -0.35, total=0.05), Cause.FEATURES, Advice.STOP),
    ],
)
def test_causes_and_advice(found, cause, advice):
    assert found.cause is cause
    assert found.advice is advice


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_source_only_model_is_fitted_and_split(task, monkeypatch):
    for place in ("_domain_auc", "loss_split"):
        monkeypatch.setattr(f"landbridge.inspection.{place}.N_TREES", 20)
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(150, 2)), rng.normal(size=(60, 2))
    y, y_target = X[:, 0], -T[:, 0]
    if task == "classification":
        y, y_target = np.where(y > 0, "up", "down"), np.where(y_target > 0, "up", "down")
    found = explain_loss(X, y, T, y_target, task=task, random_state=0)
    assert found.cause is Cause.RELATION
    name = "error rate" if task == "classification" else "mean absolute error"
    assert found.loss_name == name
    assert found.source < 0.2 < found.target


@pytest.mark.parametrize(("n", "n_labels"), [(9, 9), (20, 19)])
def test_too_few_labels_are_refused(n, n_labels):
    X, y = np.zeros((20, 1)), np.zeros(20)
    with pytest.raises(ValueError, match="`y_target` must contain one label per row, for at least"):
        explain_loss(X, y, X[:n], y[:n_labels], task="regression")
