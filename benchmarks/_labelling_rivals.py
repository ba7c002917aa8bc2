"""Other ways to choose rows for choosing a model, written from their descriptions.

Model Selector (Okanovic et al., 2024): a posterior over "which model is best" under one error rate,
the row with the largest expected gain of information. CODA (Kay et al., 2025): a confusion table
per model with a prior from the consensus, the row that tells most about which model is best. Both
are reimplemented in their essentials, without their authors' code.
"""

import numpy as np

SIZES = (20, 50, 100)
# Error rate of Model Selector, and strength of CODA's prior tables.
EPSILON = 0.46
PRIOR_STRENGTH, TEMPERATURE = 2.0, 0.5
N_TRIED = 25


def random_rows(proba: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> dict[int, int]:
    """Random rows; the model that is right most often."""
    return _most_right(proba, y, rng.permutation(y.size), rng, (*SIZES, 40, 200))


def uncertainty(proba: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> dict[int, int]:
    """Rows with the smallest margin of the mean probabilities; the model that is right most."""
    top = np.sort(proba.mean(axis=0), axis=1)
    return _most_right(proba, y, np.argsort(top[:, -1] - top[:, -2]), rng, SIZES)


def _most_right(proba, y, order, rng, sizes):
    labels = proba.argmax(axis=2)
    luck = 1e-6 * rng.random(len(proba))
    return {n: int(np.argmax((labels[:, order[:n]] == y[order[:n]]).sum(1) + luck)) for n in sizes}


def model_selector(proba: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> dict[int, int]:
    """Largest gain of information about the best model; the model that is right most often."""
    labels = proba.argmax(axis=2)
    n_models, n_rows, n_classes = proba.shape
    says = (labels[:, :, None] == np.arange(n_classes)).astype(float)
    gain = np.log((1 - EPSILON) / EPSILON)
    log_posterior, right = np.zeros(n_models), 1e-6 * rng.random(n_models)
    left, answer = np.ones(n_rows, bool), {}
    for step in range(1, max(SIZES) + 1):
        posterior = np.exp(log_posterior - log_posterior.max())
        posterior /= posterior.sum()
        chance = np.tensordot(posterior, says, 1)
        chance = (1 - EPSILON) * chance + EPSILON / (n_classes - 1) * (1 - chance)
        chance /= chance.sum(axis=1, keepdims=True)
        entropy = np.zeros(n_rows)
        for k in range(n_classes):
            after = posterior[:, None] * np.exp(gain * says[:, :, k])
            after /= after.sum(axis=0)
            entropy -= chance[:, k] * (after * np.log(after + 1e-30)).sum(axis=0)
        entropy[~left] = np.inf
        row = rng.choice(np.flatnonzero(entropy <= entropy.min() + 1e-12))
        left[row] = False
        log_posterior += gain * says[:, row, y[row]]
        right += labels[:, row] == y[row]
        if step in SIZES:
            answer[step] = int(np.argmax(right))
    return answer


def coda(proba: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> dict[int, int]:
    """Confusion tables with a prior from the consensus; the model most likely to be best."""
    labels = proba.argmax(axis=2)
    n_models, n_rows, n_classes = proba.shape
    consensus = proba.mean(axis=0)
    tables = np.full((n_models, n_classes, n_classes), 1.0 / n_classes)
    for model in range(n_models):
        for k in range(n_classes):
            tables[model, :, k] += consensus[labels[model] == k].sum(axis=0)
    tables *= PRIOR_STRENGTH / tables.sum(axis=2, keepdims=True)
    tables += np.eye(n_classes) * 0.5
    left, answer = np.ones(n_rows, bool), {}
    disputed = (labels != labels[0]).any(axis=0)
    for step in range(1, max(SIZES) + 1):
        shares = tables / tables.sum(axis=2, keepdims=True)
        beliefs = _beliefs(shares, labels, consensus.mean(axis=0))
        balance = beliefs.mean(axis=0)
        tried = np.flatnonzero(left & disputed)
        tried = tried if tried.size else np.flatnonzero(left)
        tried = rng.choice(tried, min(N_TRIED, tried.size), replace=False)
        row = tried[np.argmin(_entropy_after(tables, labels, beliefs, balance, tried))]
        left[row] = False
        tables[np.arange(n_models), y[row], labels[:, row]] += 1
        if step in SIZES:
            answer[step] = int(np.argmax(_best(tables, balance)))
    return answer


def _beliefs(shares: np.ndarray, labels: np.ndarray, balance: np.ndarray) -> np.ndarray:
    logs = np.log(balance + 1e-9)[None] + np.zeros((labels.shape[1], balance.size))
    for table, said in zip(shares, labels, strict=True):
        logs += TEMPERATURE * np.log(table[:, said].T)
    beliefs = np.exp(logs - logs.max(axis=1, keepdims=True))
    return beliefs / beliefs.sum(axis=1, keepdims=True)


def _best(tables: np.ndarray, balance: np.ndarray) -> np.ndarray:
    """Probability of each model to be best, from normal approximations of its accuracy."""
    total = tables.sum(axis=-1)
    right = np.diagonal(tables, axis1=-2, axis2=-1) / total
    mean = (right * balance).sum(axis=-1)
    variance = (balance**2 * right * (1 - right) / (total + 1)).sum(axis=-1)
    draws = mean[..., None] + np.sqrt(variance)[..., None] * NORMALS[: mean.shape[-1]]
    winners = draws.argmax(axis=-2)
    return np.stack([(winners == m).mean(axis=-1) for m in range(mean.shape[-1])], axis=-1)


NORMALS = np.random.default_rng(0).normal(size=(20, 64))


def _entropy_after(tables, labels, beliefs, balance, rows):
    n_models, n_classes = len(labels), balance.size
    entropy = np.zeros(rows.size)
    classes = np.argsort(-beliefs[rows].mean(axis=0))[: min(n_classes, 4)]
    for k in classes:
        after = np.repeat(tables[None], rows.size, axis=0)
        after[np.arange(rows.size)[:, None], np.arange(n_models), k, labels[:, rows].T] += 1
        best = _best(after, balance)
        entropy -= beliefs[rows, k] * (best * np.log(best + 1e-12)).sum(axis=1)
    return entropy


RIVALS = {
    "random": random_rows,
    "uncertainty": uncertainty,
    "Model-Selector-like": model_selector,
    "CODA-like": coda,
}
