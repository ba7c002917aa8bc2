"""The paper's corr."""

from itertools import combinations

import numpy as np
import pytest

from landbridge import rank_agreement


def test_counts_pairs_by_hand():
    assert rank_agreement([1, 2, 3], [10, 20, 30]) == 3
    assert rank_agreement([1, 2, 3], [30, 20, 10]) == 0
    assert rank_agreement([0.6, 0.7, 0.9], [0.5, 0.8, 0.7]) == 2


def test_ties_are_not_wrong():
    assert rank_agreement([1, 1, 2], [3, 1, 2]) == 2
    assert rank_agreement([1, 2, 3], [5, 5, 5]) == 3


def test_tiny_differences_count():
    assert rank_agreement([0.0, 1e-200], [1e-200, 0.0]) == 0


def test_agrees_with_the_formula_of_the_paper():
    rng = np.random.default_rng(0)
    accuracy, score = rng.normal(size=(2, 8)).round(1)
    wrong = sum(
        (accuracy[f] - accuracy[g]) * (score[f] - score[g]) < 0
        for f, g in combinations(range(8), 2)
    )
    assert rank_agreement(accuracy, score) == 28 - wrong


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="must hold finite numbers"):
        rank_agreement([0.5, np.nan], [1, 2])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        rank_agreement([0.5], [1, 2])


def test_tables_are_refused():
    with pytest.raises(ValueError, match=r"one number per model; got arrays of shapes \(1, 2\)"):
        rank_agreement([[0.1, 0.2]], [[1, 2]])
