"""Processes that are quickly forked: from one that has imported everything once, so that a run costs a second.

All forked processes of a Python come from one server, and the last list of what it imports wins: so there is one list.
"""

import multiprocessing

from tests.faults import warm
from tests.tasks.surprise import small_scoring

FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload([warm.__name__, small_scoring.__name__])
