"""What holds for all tests."""

from hypothesis import settings

# How long an example takes says how busy the machine is, not whether it is right.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
