"""Does the interval of the chosen candidate hold its true loss as often as it says?

Losses of correlated candidates with known truth are drawn, the anchored criterion chooses, and the
default interval is compared with the truth. Tolerance: 90 % nominal, between 85 % and 97 %, with
1000 draws (standard error below 1.2 points).
"""

import numpy as np
import pytest
from scipy import stats

from landbridge.model_selection.anchored import anchor
from landbridge.model_selection.anchored_ratios import anchor_ratios
from landbridge.model_selection.confidence import interval_of_mean

pytestmark = pytest.mark.slow


def draw(rng, n_rows, n_candidates=10, spread=0.05, correlation=0.6):
    """Zero-one losses with a shared and an own part, so that candidates err on the same rows."""
    truth = np.clip(0.25 + spread * rng.normal(size=n_candidates), 0.02, 0.9)
    shared = rng.normal(size=n_rows)
    own = rng.normal(size=(n_candidates, n_rows))
    latent = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    losses = (latent < stats.norm.ppf(truth)[:, None]).astype(float)
    prior = truth + 0.05 * rng.normal(size=n_candidates) + 0.1
    return losses, prior, truth


@pytest.mark.parametrize("n_rows", [20, 80])
def test_interval_of_the_chosen_candidate(n_rows):
    rng = np.random.default_rng(0)
    anchored, labelled = [], []
    for _ in range(1000):
        losses, prior, truth = draw(rng, n_rows)
        posterior = anchor(losses, prior)
        best = int(np.argmin(posterior.mean))
        _, low, high = interval_of_mean(posterior.mean[best], losses[best], 0.9, proportion=True)
        anchored.append(low <= truth[best] <= high)
        worst = int(np.argmin(losses.mean(axis=1)))
        _, low, high = interval_of_mean(losses[worst].mean(), losses[worst], 0.9, proportion=True)
        labelled.append(low <= truth[worst] <= high)
    assert 0.85 <= np.mean(anchored) <= 0.97
    # The winner by its own few losses is praised too highly; the anchored estimate less so.
    assert np.mean(anchored) > np.mean(labelled)


# Losses of mean 1 from standard normal numbers: squares, and a longer tail (kurtosis 60).
SHAPES = {"squares": np.square, "log-normal": lambda z: np.exp(0.9 * z - 0.405)}


def draw_skewed(rng, n_rows, shape, n_candidates=10, correlation=0.6):
    """Skewed losses of known mean, of which candidates share a part; one is terrible."""
    truth = np.exp(rng.normal(0, 0.3, size=n_candidates))
    truth[0] *= 10_000
    shared, own = rng.normal(size=n_rows), rng.normal(size=(n_candidates, n_rows))
    latent = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    prior = 0.5 * truth * np.exp(0.3 * rng.normal(size=n_candidates))
    return truth[:, None] * SHAPES[shape](latent), prior, truth


@pytest.mark.parametrize("n_rows", [20, 60])
@pytest.mark.parametrize("shape", SHAPES)
def test_interval_of_the_chosen_regressor(n_rows, shape):
    rng = np.random.default_rng(1)
    anchored, student = [], []
    for _ in range(1000):
        losses, prior, truth = draw_skewed(rng, n_rows, shape)
        mean = anchor_ratios(losses, prior).mean
        best = int(np.argmin(mean))
        _, low, high = interval_of_mean(mean[best], losses[best], 0.9, proportion=False)
        anchored.append(low <= truth[best] <= high)
        best = int(np.argmin(losses.mean(axis=1)))
        low, high = stats.t.interval(0.9, n_rows - 1, losses[best].mean(), stats.sem(losses[best]))
        student.append(low <= truth[best] <= high)
    assert 0.85 <= np.mean(anchored) <= 0.97
    # Student's interval of the winner by its own few losses holds less often than it says.
    assert np.mean(student) < min(0.85, np.mean(anchored) - 0.05)
