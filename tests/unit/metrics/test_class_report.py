"""Rare and ignored classes in a confusion table."""

import numpy as np
import pytest

from landbridge.metrics import ClassReport


def balance(table):
    return ClassReport(np.arange(len(table)), np.asarray(table, dtype=float))


def test_shares_of_classes():
    found = balance([[50, 10], [5, 35]])
    np.testing.assert_allclose(found.shares, [0.6, 0.4])
    assert found.rarest == 1
    assert not found.imbalanced
    assert found.suggested_metric is None


def test_a_rare_class_that_is_never_predicted():
    found = balance([[990, 0], [10, 0]])
    assert found.never == [1]
    assert found.suggested_metric == "average_precision"


@pytest.mark.parametrize(("predicted", "seldom"), [(7, [1]), (8, [])])
def test_seldom_is_less_than_a_fifth_of_the_rows_of_a_class(predicted, seldom):
    found = balance([[60, 0], [40 - predicted, predicted]])
    assert found.seldom == seldom
    assert found.never == []


def test_many_classes_are_compared_with_their_even_share():
    even = balance(10 * np.eye(10))
    assert not even.imbalanced
    uneven = balance(np.diag([10] * 9 + [1]))
    assert uneven.imbalanced
    assert uneven.suggested_metric == "balanced_accuracy"
    assert balance(np.diag([45, 36, 19])).imbalanced
    assert not balance(np.diag([40, 40, 20])).imbalanced


def test_a_class_without_rows_is_not_the_rarest():
    found = balance([[80, 0, 0], [0, 20, 0], [0, 0, 0]])
    assert found.rarest == 1
    assert found.never == []
