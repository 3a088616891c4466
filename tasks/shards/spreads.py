"""How long the answers of a shard took and how many tokens they had, step by step, as the manifest keeps it."""

from typing import Any

from infra.histogram import SECONDS, TOKENS, Histogram
from infra.llm.types import Reply, Request

_BOUNDS = {"seconds": SECONDS, "prompt": TOKENS, "completion": TOKENS}


class Spreads:
    """Histograms of the answers that chains have used, replayed ones included: a resumed shard has those of all of it.

    Seconds are those of the try that was answered, from sending it to the last byte; 0 of what came with a batch.
    """

    def __init__(self) -> None:
        self._steps: dict[tuple[str, str], dict[str, Histogram]] = {}

    def add(self, request: Request, reply: Reply) -> None:
        """Count an answer; of the step's name only the kind, what follows a dash are numbers and names."""
        key = (request.tags["step"].partition("-")[0], reply.model)
        step = self._steps.get(key)
        if step is None:
            step = self._steps[key] = {name: Histogram(bounds) for name, bounds in _BOUNDS.items()}
        step["seconds"].add(reply.latency_s)
        step["prompt"].add(reply.usage.prompt)
        step["completion"].add(reply.usage.completion)

    def to_json(self) -> dict[str, Any]:
        """Return the upper bounds of the buckets, and the counts and the sum of each step, by step and model."""
        steps = [
            {
                "step": step,
                "model": model,
                **{name: each.spread().model_dump(mode="json") for name, each in found.items()},
            }
            for (step, model), found in sorted(self._steps.items())
        ]
        return {"bounds": {name: list(bounds) for name, bounds in _BOUNDS.items()}, "steps": steps}
