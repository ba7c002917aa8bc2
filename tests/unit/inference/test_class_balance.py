"""Rare and ignored classes in a confusion table."""

import numpy as np
import pytest

from landbridge.inference import class_balance


def test_shares_recall_and_majority_error():
    found = class_balance([[50, 10], [5, 35]], ["a", "b"])
    np.testing.assert_allclose(found.shares, [0.6, 0.4])
    np.testing.assert_allclose(found.recall, [50 / 60, 35 / 40])
    assert found.majority_error == pytest.approx(0.4)
    assert found.rarest == 1
    assert not found.imbalanced
    assert found.suggested_metric is None
    assert found.headline() == ""
    assert found.warnings("accuracy") == ()


def test_a_rare_class_that_is_never_predicted():
    found = class_balance([[990, 0], [10, 0]], ["fine", "fraud"])
    assert found.never == (1,)
    assert found.headline() == "recall of 'fraud' (1.0 % of rows): 0.00"
    never, metric = found.warnings("accuracy")
    assert never == "The model never predicts 'fraud', which has 1.0 % of the rows."
    assert "accuracy of 0.990; use average_precision" in metric
    assert len(found.warnings("roc_auc")) == 1


@pytest.mark.parametrize(("predicted", "seldom"), [(7, (1,)), (8, ())])
def test_seldom_is_less_than_a_fifth_of_the_rows_of_a_class(predicted, seldom):
    found = class_balance([[60, 0], [40 - predicted, predicted]], ["a", "b"])
    assert found.seldom == seldom
    assert found.never == ()
    assert ("hardly ever predicts 'b'" in " ".join(found.warnings())) == bool(seldom)


def test_many_classes_are_compared_with_their_even_share():
    even = class_balance(10 * np.eye(10), range(10))
    assert not even.imbalanced
    uneven = class_balance(np.diag([10] * 9 + [1]), range(10))
    assert uneven.imbalanced
    assert uneven.suggested_metric == "balanced_accuracy"
    assert class_balance(np.diag([45, 36, 19]), "abc").imbalanced
    assert not class_balance(np.diag([40, 40, 20]), "abc").imbalanced


def test_a_class_without_rows_is_not_the_rarest():
    found = class_balance([[80, 0, 0], [0, 20, 0], [0, 0, 0]], "abc")
    assert found.rarest == 1
    assert found.never == ()
    assert np.isnan(found.recall[2])


@pytest.mark.parametrize("table", [[[1, 2]], [[0, 0], [0, 0]], [[1, -1], [0, 1]]])
def test_other_tables_are_refused(table):
    with pytest.raises(ValueError, match="`confusion` must be a table of counts with 2 rows"):
        class_balance(table, ["a", "b"])
