"""What holds for all tests."""

import os

from hypothesis import settings

# No test may need the network. Set before anything reads it: transformers looks it up once, when it is imported.
os.environ["HF_HUB_OFFLINE"] = "1"

# How long an example takes says how busy the machine is, not whether it is right.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
