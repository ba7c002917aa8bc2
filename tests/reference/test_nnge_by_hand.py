"""NNge worked out by hand, row after row."""

import numpy as np
import pytest

import landbridge as lb
from landbridge.neighbors.nnge import Exemplars, SeenRows


@pytest.fixture
def equal_features(monkeypatch):
    """Features with equal weights."""
    monkeypatch.setattr(SeenRows, "weights", property(lambda seen: np.ones(seen.X.shape[1])))


@pytest.fixture
def equal_exemplars(monkeypatch, equal_features):
    """Features and exemplars with equal weights."""
    monkeypatch.setattr(Exemplars, "weights", property(lambda boxes: np.ones(len(boxes.members))))


# The corner (8, 8) makes both ranges 8 from the start.
ROWS = [
    ((0, 0), "A"),  # the first exemplar
    ((2, 2), "A"),  # stretches it to [0, 2]²
    ((6, 6), "B"),  # another class: an exemplar of its own
    ((8, 8), "B"),  # stretches it to [6, 8]²
    ((1, 1), "B"),  # inside [0, 2]² of A, which splits into two points; [1, 8]² would hold one
    ((2, 4), "A"),  # stretches (2, 2) to {2} × [2, 4]
    ((2, 3), "A"),  # inside it
    ((2, 2.5), "B"),  # splits it along the second feature, the first has no extent
]
AFTER = {
    2: [("A", (0, 0), (2, 2), 2)],
    4: [("A", (0, 0), (2, 2), 2), ("B", (6, 6), (8, 8), 2)],
    5: [
        ("A", (0, 0), (0, 0), 1),
        ("A", (2, 2), (2, 2), 1),
        ("B", (1, 1), (1, 1), 1),
        ("B", (6, 6), (8, 8), 2),
    ],
    7: [
        ("A", (0, 0), (0, 0), 1),
        ("A", (2, 2), (2, 4), 3),
        ("B", (1, 1), (1, 1), 1),
        ("B", (6, 6), (8, 8), 2),
    ],
    8: [
        ("A", (0, 0), (0, 0), 1),
        ("A", (2, 2), (2, 2), 1),
        ("A", (2, 3), (2, 4), 2),
        ("B", (1, 1), (1, 1), 1),
        ("B", (2, 2.5), (2, 2.5), 1),
        ("B", (6, 6), (8, 8), 2),
    ],
}


def exemplars(model):
    parts = (model.exemplar_labels_, model.lower_, model.upper_, model.exemplar_sizes_)
    return sorted(
        (str(label), tuple(low), tuple(high), int(size))
        for label, low, high, size in zip(*parts, strict=True)
    )


def test_growth_and_splits_row_after_row(equal_exemplars):
    X, y = (list(column) for column in zip(*ROWS, strict=True))
    for n, expected in AFTER.items():
        assert exemplars(lb.NNgeClassifier().fit(X[:n], y[:n])) == expected, n


def test_the_nearest_box_answers(equal_exemplars):
    X, y = (list(column) for column in zip(*ROWS, strict=True))
    model = lb.NNgeClassifier().fit(X, y)
    # (4, 4): 2 from the box {2} × [3, 4] of A, √8 from [6, 8]² of B.
    assert model.predict([[4.0, 4.0], [5.0, 5.0], [1.2, 1.0], [0.2, 0.0]]).tolist() == list("ABBA")


def test_weights_of_exemplars(equal_features):
    """0 is A (1 hit, 0 misses). 10 is B: A misleads, (1, 1), and B starts with the mean, (1, 1).

    1 is A: a hit, (2, 1), and [0, 1]. So A weighs 3/2 and B 2, and the border lies where
    3/2 (x − 1)² = 2 (10 − x)², at x = 5.823 instead of 5.5.
    """
    X, y = [[0.0], [10.0], [1.0]], ["A", "B", "A"]
    model = lb.NNgeClassifier().fit(X, y)
    assert exemplars(model) == [("A", (0.0,), (1.0,), 2), ("B", (10.0,), (10.0,), 1)]
    np.testing.assert_allclose(sorted(model.exemplar_weights_), [1.5, 2.0])
    assert model.predict([[5.82], [5.83]]).tolist() == ["A", "B"]


def test_without_weights_the_border_lies_in_the_middle(equal_exemplars):
    model = lb.NNgeClassifier().fit([[0.0], [10.0], [1.0]], ["A", "B", "A"])
    assert model.predict([[5.49], [5.51]]).tolist() == ["A", "B"]
