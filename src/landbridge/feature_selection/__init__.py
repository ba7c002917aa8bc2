"""Selection of features whose effect is stable across domains."""

from landbridge.feature_selection.path import FeaturePath
from landbridge.feature_selection.selector import TGreedySelector
from landbridge.feature_selection.similarity import SimilarityLearner

__all__ = ["FeaturePath", "SimilarityLearner", "TGreedySelector"]
