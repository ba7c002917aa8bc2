"""Ensembles whose models are weighted by how well they fit the target."""

from landbridge.ensemble.locally_weighted import LocallyWeightedEnsemble

__all__ = ["LocallyWeightedEnsemble"]
