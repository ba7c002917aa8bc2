"""2000 features of images, learned without labels, in the place of deep belief networks."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.neural_network import BernoulliRBM

CACHE = Path(os.environ.get("LANDBRIDGE_CACHE", tempfile.gettempdir())) / "landbridge-features"


def kept(name: str, learn: Callable[[], np.ndarray]) -> np.ndarray:
    """Features from the cache outside the repository, learned on first use."""
    path = CACHE / f"{name}.npy"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        np.save(path, learn())
    return np.load(path)


def stacked_rbm(X: np.ndarray, train: np.ndarray, seed: int = 0) -> np.ndarray:
    """Hidden probabilities of stacked restricted Boltzmann machines, 500-500-2000 units."""
    X = X.astype(np.float32) / 255
    for n_units in (500, 500, 2000):
        machine = BernoulliRBM(
            n_units, learning_rate=0.05, batch_size=20, n_iter=8, random_state=seed
        ).fit(X[train])
        X = machine.transform(X).astype(np.float32)
    return X


def patch_map(images: np.ndarray, train: np.ndarray, seed: int = 0) -> np.ndarray:
    """Whitened 6 × 6 patches, 500 k-means centres, triangle activations summed over quadrants.

    The single-layer map of Coates, Lee, Ng, "An Analysis of Single-Layer Networks in Unsupervised
    Feature Learning", with a stride of two pixels.
    """
    rng = np.random.default_rng(seed)
    chosen = rng.choice(train, 2000, replace=False)
    sample = np.concatenate([_patches(image)[rng.choice(196, 25)] for image in images[chosen]])
    mean = sample.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(sample - mean, rowvar=False))
    whiten = (vectors / np.sqrt(values + 0.1)).astype(np.float32) @ vectors.T.astype(np.float32)
    centres = (
        MiniBatchKMeans(500, batch_size=2048, n_init=1, random_state=seed)
        .fit((sample - mean) @ whiten)
        .cluster_centers_.astype(np.float32)
    )
    return np.stack([_pooled((_patches(image) - mean) @ whiten, centres) for image in images])


def _patches(image: np.ndarray) -> np.ndarray:
    """The 196 patches of a 32 × 32 × 3 image, each brought to mean 0 and variance near 1."""
    windows = np.lib.stride_tricks.sliding_window_view(image.reshape(32, 32, 3), (6, 6), (0, 1))
    rows = windows[::2, ::2].reshape(196, 108).astype(np.float32)
    rows -= rows.mean(axis=1, keepdims=True)
    return rows / np.sqrt(rows.var(axis=1, keepdims=True) + 10)


def _pooled(patches: np.ndarray, centres: np.ndarray) -> np.ndarray:
    squares = (patches**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    distance = np.sqrt(np.maximum(squares - 2 * patches @ centres.T, 0))
    active = np.maximum(distance.mean(axis=1, keepdims=True) - distance, 0).reshape(14, 14, -1)
    quadrants = [active[a : a + 7, b : b + 7] for a in (0, 7) for b in (0, 7)]
    return np.concatenate([quadrant.sum(axis=(0, 1)) for quadrant in quadrants])
