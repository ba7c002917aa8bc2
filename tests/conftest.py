"""Settings of every test."""

import os

from hypothesis import settings

# The same examples in every run; HYPOTHESIS_PROFILE=explore draws new ones.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
