"""Agreement between candidates and the reference interval around it."""

import json
from pathlib import Path

import numpy as np
import pytest

from landbridge.inference import agreement as module
from landbridge.inference import agreement_interval

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "trust.jsonl"


def test_agreement_is_the_mean_over_the_other_candidates():
    predicted = np.array([[0, 1, 2, 0], [0, 1, 0, 0], [1, 1, 2, 1]])
    # Pairs agree in 3, 2 and 1 of 4 rows.
    found = agreement_interval(predicted)
    np.testing.assert_allclose(found.agreement, [(3 + 2) / 8, (3 + 1) / 8, (2 + 1) / 8])
    np.testing.assert_allclose(found.estimate, found.agreement + module.OFFSET)
    assert found.n_rows == 4


def test_the_interval_holds_the_quantiles_around_the_agreement():
    predicted = np.array([[0, 1, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]])
    found = agreement_interval(predicted, level=0.9)
    np.testing.assert_allclose(found.low, np.clip(found.agreement - 0.272, 0, 1))
    np.testing.assert_allclose(found.high, np.clip(found.agreement + 0.119, 0, 1))
    narrow = agreement_interval(predicted, level=0.5)
    np.testing.assert_allclose(narrow.low, found.agreement - 0.153)
    np.testing.assert_allclose(narrow.high, found.agreement + 0.004)


def test_the_interval_stays_between_zero_and_one_and_says_what_it_rests_on():
    found = agreement_interval(np.zeros((4, 10), dtype=int))
    assert found.high.max() == 1
    assert "4 candidates on 10 unlabelled rows" in found.basis
    assert "No label was used" in found.basis


@pytest.mark.skipif(not RESULTS.exists(), reason="needs the results of the benchmark")
def test_the_constants_come_from_the_benchmark():
    differences, weights, development = [], [], []
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    families = [line["dataset"].split(",")[0] for line in lines]
    for line, family in zip(lines, families, strict=True):
        part = line["without_labels"]
        gap = np.subtract(part["accuracy"], part["agreement"])
        differences += gap.tolist()
        weights += [1 / families.count(family)] * len(gap)
        development += gap.tolist() if line["part"] == "development" else []
    order = np.argsort(differences)
    weights = np.array(weights)[order]
    places = (np.cumsum(weights) - weights / 2) / weights.sum()
    quantiles = np.interp(module.PROBABILITIES, places, np.array(differences)[order])
    np.testing.assert_allclose(quantiles, module.QUANTILES, atol=1e-3)
    assert np.median(development) == pytest.approx(module.OFFSET, abs=1e-3)
    assert len(lines) == module.N_TASKS
    assert len(set(families)) == module.N_DATASETS


@pytest.mark.parametrize("shape", [(2, 10), (3, 0), (3,)])
def test_few_candidates_are_refused(shape):
    with pytest.raises(ValueError, match="`predicted` must contain the predictions of at least 3"):
        agreement_interval(np.zeros(shape))


def test_labels_for_a_wanted_precision():
    # (1.645 / 0.05)² · 0.8 · 0.2 = 173.2 and (1.645 / 0.4)² · 2 = 33.8, rounded up to tens.
    assert module.labels_for_accuracy(0.8) == 180
    assert module.labels_for_accuracy(1.0) == module.labels_for_accuracy(0.95)
    assert module.labels_for_error() == 40
