"""LeaveSourcesOut keeps sources whole, covers each once a repeat and fits scikit-learn's cv=."""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, cross_val_score
from sklearn.naive_bayes import GaussianNB

from landbridge import LeaveSourcesOut

GROUPS = np.repeat([f"s{i}" for i in range(7)], [3, 5, 2, 4, 6, 3, 4])
X = np.random.default_rng(0).normal(size=(27, 2))
Y = np.arange(27) % 2


@pytest.mark.parametrize(("n_out", "n_blocks"), [(1, 7), (2, 4), (3, 3), (4, 2), (6, 2)])
def test_each_source_is_left_out_once_a_repeat_and_whole(n_out, n_blocks):
    splitter = LeaveSourcesOut(n_out, n_repeats=3, random_state=0)
    splits = list(splitter.split(X, Y, GROUPS))
    assert len(splits) == splitter.get_n_splits(X, Y, GROUPS) == 3 * n_blocks
    for repeat in range(3):
        out = []
        for train, test in splits[repeat * n_blocks : (repeat + 1) * n_blocks]:
            assert not set(GROUPS[train]) & set(GROUPS[test])
            assert len(train) + len(test) == 27
            sizes = len(set(GROUPS[test]))
            assert n_out - 1 <= sizes <= n_out or n_out > 7 / 2
            out += list(set(GROUPS[test]))
        assert sorted(out) == sorted(set(GROUPS))


def test_repeats_deal_anew_and_the_seed_decides():
    def tests_of(seed):
        splitter = LeaveSourcesOut(2, n_repeats=5, random_state=seed)
        return [tuple(sorted(set(GROUPS[test]))) for _, test in splitter.split(X, Y, GROUPS)]

    assert tests_of(1) == tests_of(1)
    assert tests_of(1) != tests_of(2)
    assert len({frozenset(tests_of(1)[i : i + 4]) for i in range(0, 20, 4)}) > 1


def test_leaving_one_out_is_scikit_learns():
    ours = [test.tolist() for _, test in LeaveSourcesOut().split(X, Y, GROUPS)]
    theirs = [test.tolist() for _, test in LeaveOneGroupOut().split(X, Y, GROUPS)]
    assert ours == theirs


def test_works_as_cv_of_scikit_learn():
    splitter = LeaveSourcesOut(2, n_repeats=2, random_state=0)
    scores = cross_val_score(GaussianNB(), X, Y, groups=GROUPS, cv=splitter)
    assert scores.shape == (8,)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=splitter)
    search.fit(X, Y, groups=GROUPS)
    assert "split7_test_score" in search.cv_results_
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_val_score(GaussianNB(), X, Y, params={"groups": GROUPS}, cv=splitter)
    assert np.array_equal(routed, scores)


def test_repr_shows_the_parameters():
    text = repr(LeaveSourcesOut(2, n_repeats=3, random_state=0))
    assert text == "LeaveSourcesOut(n_out=2, n_repeats=3, random_state=0)"


@pytest.mark.parametrize("params", [{"n_out": 0}, {"n_out": 1.5}, {"n_repeats": 0}])
def test_bad_parameters(params):
    name = next(iter(params))
    with pytest.raises(ValueError, match=f"`{name}` must be a whole number of at least 1"):
        LeaveSourcesOut(**params)


def test_bad_groups():
    for n_out in (7, 9):
        with pytest.raises(ValueError, match="smaller than the number of sources, 7; got"):
            list(LeaveSourcesOut(n_out).split(X, Y, GROUPS))
        with pytest.raises(ValueError, match="smaller than the number of sources, 7; got"):
            LeaveSourcesOut(n_out).get_n_splits(X, Y, GROUPS)
    for call in (
        lambda: list(LeaveSourcesOut().split(X, Y)),
        lambda: LeaveSourcesOut().get_n_splits(),
    ):
        with pytest.raises(ValueError, match="`groups` must name the source of each row; got None"):
            call()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        list(LeaveSourcesOut().split(X, Y, GROUPS[:-1]))
