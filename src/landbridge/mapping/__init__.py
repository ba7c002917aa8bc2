"""Closed-form maps between two domains."""

from landbridge.mapping.coral import CORAL
from landbridge.mapping.latent_map import LatentMap
from landbridge.mapping.subspace_alignment import SubspaceAlignment

__all__ = ["CORAL", "LatentMap", "SubspaceAlignment"]
