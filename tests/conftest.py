"""What holds for all tests."""

import os
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# No test may need the network. Set before anything reads it: transformers looks it up once, when it is imported.
os.environ["HF_HUB_OFFLINE"] = "1"

# How long an example takes says how busy the machine is, not whether it is right.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


class OneClusterAtATime(LoadFileScheduling):
    """Files that start a cluster of Ray run one after the other: of several that start at once on two cores, one takes
    longer than the 30 s that Ray waits for it.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "clusters" if _starts_ray(self.config.rootpath / file) else file


@cache
def _starts_ray(file: Path) -> bool:
    return "mark.ray" in file.read_text(encoding="utf-8")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneClusterAtATime:
    """Deal the tests out to processes, whatever ``--dist`` says."""
    return OneClusterAtATime(config, log)
