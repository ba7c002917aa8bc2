"""Features that keep their meaning from domain to domain."""

from landbridge.feature_selection.path import FeaturePath
from landbridge.feature_selection.selector import TGreedySelector
from landbridge.feature_selection.similarity import SimilarityLearner

__all__ = ["FeaturePath", "SimilarityLearner", "TGreedySelector"]
