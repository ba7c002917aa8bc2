"""Several models, weighted where they fit the target."""

from landbridge.ensemble.locally_weighted import LocallyWeightedEnsemble

__all__ = ["LocallyWeightedEnsemble"]
