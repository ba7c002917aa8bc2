"""Pictures of results: computed arrays in, drawings out."""

from landbridge.inspection.multi_source_display import MultiSourceDisplay

__all__ = ["MultiSourceDisplay"]
