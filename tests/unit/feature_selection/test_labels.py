import numpy as np
import pytest

from landbridge.feature_selection.labels import Labels


def final(labels, y):
    scale, offset = labels.final_map
    return (scale * labels.encode(np.array(y)) + offset).tolist()


@pytest.mark.parametrize("values", [["yes", "no"], [5, 2], [True, False], [2.5, -1.0]])
def test_two_values_become_minus_and_plus_one_in_sorted_order(values):
    labels = Labels()
    for value in values:  # one class at a time, the higher one first
        labels = labels.extend(np.array([value, value]))
    high, low = values
    assert final(labels, [low, high, low]) == pytest.approx([-1.0, 1.0, -1.0])
    assert labels.classes.tolist() == [low, high]
    assert labels.classes.dtype == np.array(values).dtype


def test_three_numbers_are_a_response():
    labels = Labels().extend(np.array([1.0, 2.0])).extend(np.array([3.0])).extend(np.array([9.0]))
    assert labels.classes is None
    assert final(labels, [4.0, 7.0]) == [4.0, 7.0]


def test_long_batches_are_not_sorted_in_vain():
    labels = Labels().extend(np.arange(100.0))
    assert labels.values == (0.0, 1.0, 2.0)
    assert Labels().extend(np.r_[np.zeros(100), 1.0]).values == (0.0, 1.0)


@pytest.mark.parametrize("seen", [("yes", "no"), ("no", "yes"), ("yes",), ("no",)])
def test_codes_of_another_stream_are_mapped(seen):
    mine, theirs = Labels(("no", "yes"), text=True), Labels(seen, text=True)
    scale, offset = mine.code_map(theirs)
    for name in seen:
        code = theirs.encode(np.array([name]))[0]
        assert scale * code + offset == mine.values.index(name)


def test_numbers_keep_their_code():
    assert Labels((3.0,)).code_map(Labels((1.0, 2.0))) == (1.0, 0.0)


def test_messages():
    with pytest.raises(
        ValueError, match=r"numbers or two classes; got the classes \['a', 'b', 'c'\]"
    ):
        Labels().extend(np.array(["a", "b", "c"]))
    with pytest.raises(ValueError, match="got numbers after text"):
        Labels().extend(np.array(["a"])).extend(np.array([1.0]))
    with pytest.raises(ValueError, match="got one class or number, 'a', in every row"):
        _ = Labels().extend(np.array(["a"])).classes


def test_dates_are_no_labels():
    dates = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")
    with pytest.raises(ValueError, match="`y` must contain numbers or two classes; got dates"):
        Labels().extend(dates)
