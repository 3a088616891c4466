"""What holds for all tests."""

import os

from hypothesis import settings

from infra.priority import give_way

# No test may need the network. Set before anything reads it: transformers looks it up once, when it is imported.
os.environ["HF_HUB_OFFLINE"] = "1"

# A process that has started a Ray has given way for good, and so does what it starts: on busy cores it would get a
# tenth of what tests in another process get. So all do from the start.
give_way()

# How long an example takes says how busy the machine is, not whether it is right.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
