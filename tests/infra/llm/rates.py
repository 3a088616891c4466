"""How fast tokens pass a simulator, on a machine that may have other work."""

import time

from infra.engines.simulator.process import Simulator

WINDOW_S, WITHIN_S = 4.0, 60.0


def fastest(simulator: Simulator, per_s: float) -> float:
    """Return tokens a second of the first four that come near ``per_s`` or exceed it, else of the best in a minute."""
    best, end = 0.0, time.monotonic() + WITHIN_S
    while best < 0.9 * per_s and time.monotonic() < end:
        first, began = simulator.statistics(), time.monotonic()
        time.sleep(WINDOW_S)
        last, ended = simulator.statistics(), time.monotonic()
        tokens = last.prompt_tokens + last.completion_tokens - first.prompt_tokens - first.completion_tokens
        best = max(best, tokens / (ended - began))
    return best
