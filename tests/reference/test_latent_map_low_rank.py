"""Rows of exact low rank: what a domain lacks is recovered, in the true latent space."""

import numpy as np
import pytest

import landbridge as lb

RANK = 3


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_source", [40, 6])
def test_low_rank_rows_are_filled_exactly(seed, n_source):
    """x = u B with u of three dimensions: four shared features tell u, and u tells the rest."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(RANK, 10))
    source = rng.normal(1, 1, (n_source, RANK)) @ loadings
    target = rng.normal(-1, 2, (50, RANK)) @ loadings
    seen_source, seen_target = source.copy(), target.copy()
    seen_source[:, :2] = 0
    seen_target[:, 6:] = 0
    model = lb.LatentMap(RANK, ridge=1e-10).fit(seen_source, X_unlabeled=seen_target)
    values = np.linalg.svd(np.vstack([source, target]), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, values[:RANK], rtol=1e-5)
    # The latent rows, taken back to features, are the rows before anything was hidden.
    for latent, whole in (
        (model.transform_source(seen_source), source),
        (model.transform(seen_target), target),
    ):
        np.testing.assert_allclose(latent @ model.components_, whole, atol=1e-4)
    # New target rows are filled by what fit has learned.
    new = rng.normal(size=(5, RANK)) @ loadings
    hidden = new.copy()
    hidden[:, 6:] = 0
    np.testing.assert_allclose(model.transform(hidden) @ model.components_, new, atol=1e-4)
