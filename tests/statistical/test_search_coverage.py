"""Does the interval of the chosen candidate hold its true loss as often as it says?

Predictions of correlated candidates with known truth are drawn, the anchored criterion chooses, and
its interval is compared with the truth. Tolerance: 90 % nominal, between 85 % and 97 %, with 1000
draws (standard error below 1.2 points).
"""

import numpy as np
import pytest
from scipy import stats

from landbridge.metrics.inference import loss_errors, metric_interval
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection.anchored import anchor

pytestmark = pytest.mark.slow


def draw(rng, n_rows, n_candidates=10, spread=0.05, correlation=0.6):
    """Mistakes with a shared and an own part, so that candidates err on the same rows."""
    truth = np.clip(0.25 + spread * rng.normal(size=n_candidates), 0.02, 0.9)
    shared = rng.normal(size=n_rows)
    own = rng.normal(size=(n_candidates, n_rows))
    latent = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    wrong = (latent < stats.norm.ppf(truth)[:, None]).astype(float)
    prior = truth + 0.05 * rng.normal(size=n_candidates) + 0.1
    # Every label is class 0, so the second column marks the mistakes.
    return np.stack([1 - wrong, wrong], axis=2), prior, truth


@pytest.mark.parametrize("n_rows", [20, 80])
def test_interval_of_the_chosen_candidate(n_rows):
    rng = np.random.default_rng(0)
    (accuracy,) = check_scoring("accuracy", task="classification", classes=[0, 1])
    y = np.zeros(n_rows, dtype=int)
    anchored, labelled = [], []
    for _ in range(1000):
        predictions, prior, truth = draw(rng, n_rows)
        measured = 1 - accuracy.score(y, predictions)
        errors = loss_errors(accuracy, y, predictions)
        mean = anchor(measured, errors, prior, n_rows=n_rows)
        best = int(np.argmin(mean))
        found = metric_interval(accuracy, y, predictions[best], 0.9, estimate=1 - mean[best])
        anchored.append(found.low <= 1 - truth[best] <= found.high)
        best = int(np.argmin(measured))
        found = metric_interval(accuracy, y, predictions[best], 0.9)
        labelled.append(found.low <= 1 - truth[best] <= found.high)
    assert 0.85 <= np.mean(anchored) <= 0.97
    # The winner by its own few rows is praised too highly; the anchored estimate less so.
    assert np.mean(anchored) > np.mean(labelled)


# Squared errors of mean 1 from standard normal numbers: squares, and a longer tail (kurtosis 60).
SHAPES = {"squares": np.square, "log-normal": lambda z: np.exp(0.9 * z - 0.405)}


def draw_skewed(rng, n_rows, shape, n_candidates=10, correlation=0.6):
    """Predictions of zeros whose squared errors have a known mean; one candidate is terrible."""
    truth = np.exp(rng.normal(0, 0.3, size=n_candidates))
    truth[0] *= 10_000
    shared, own = rng.normal(size=n_rows), rng.normal(size=(n_candidates, n_rows))
    latent = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    prior = 0.5 * truth * np.exp(0.3 * rng.normal(size=n_candidates))
    return np.sqrt(truth[:, None] * SHAPES[shape](latent)), prior, truth


@pytest.mark.parametrize("n_rows", [20, 60])
@pytest.mark.parametrize("shape", SHAPES)
def test_interval_of_the_chosen_regressor(n_rows, shape):
    rng = np.random.default_rng(1)
    (mse,) = check_scoring("neg_mean_squared_error", task="regression", classes=None)
    y = np.zeros(n_rows)
    anchored, student = [], []
    for _ in range(1000):
        predictions, prior, truth = draw_skewed(rng, n_rows, shape)
        losses = predictions**2
        errors = loss_errors(mse, y, predictions)
        mean = anchor(losses.mean(axis=1), errors, prior, n_rows=n_rows, scale="ratio")
        best = int(np.argmin(mean))
        found = metric_interval(mse, y, predictions[best], 0.9, estimate=mean[best])
        anchored.append(found.low <= truth[best] <= found.high)
        best = int(np.argmin(losses.mean(axis=1)))
        low, high = stats.t.interval(0.9, n_rows - 1, losses[best].mean(), stats.sem(losses[best]))
        student.append(low <= truth[best] <= high)
    assert 0.85 <= np.mean(anchored) <= 0.97
    # Student's interval of the winner by its own few losses holds less often than it says.
    assert np.mean(student) < min(0.85, np.mean(anchored) - 0.05)
