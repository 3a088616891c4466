"""The models of a run while it runs: one that fails for good can hand its share of the records to the others."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar, overload

from infra.llm.types import BackendGone
from tasks.synthesis.chain import MixedModel

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")


class Mix(Sequence[MixedModel]):
    """The mix that a chain draws from, as it is now.

    A record's model is drawn by where a number falls on the models' weights, laid end to end. The place of a model that
    is lost is divided among the others, in their proportions: its records are drawn again, no other record moves.

    Args:
        models: as configured.
        hands_over: whether a lost model's share goes to the others; else the first loss is an error.
    """

    def __init__(self, models: Sequence[MixedModel], *, hands_over: bool) -> None:
        self._models = list(models)
        self._hands_over = hands_over
        self._lost: set[str] = set()

    def __len__(self) -> int:
        return len(self._models)

    @overload
    def __getitem__(self, place: int) -> MixedModel: ...

    @overload
    def __getitem__(self, place: slice) -> list[MixedModel]: ...

    def __getitem__(self, place: int | slice) -> MixedModel | list[MixedModel]:
        return self._models[place]

    def surviving(self, run: Callable[[T], Awaitable[R]]) -> Callable[[T], Awaitable[R]]:
        """Return ``run``, which starts anew with another model where it has lost the one it had."""

        async def run_on(item: T) -> R:
            while True:
                try:
                    return await run(item)
                except BackendGone as gone:
                    self.lose(gone)

        return run_on

    def lose(self, gone: BackendGone) -> None:
        """Give the share of a model to the others.

        Raises:
            BackendGone: that is not asked for, or nobody is left, or it is no model of the mix (the embedder).
        """
        if gone.model in self._lost:  # another record has been here
            return
        others = [model for model in self._models if model.backend.model != gone.model]
        if not self._hands_over or not others or len(others) == len(self._models):
            raise gone
        self._lost.add(gone.model)
        names = sorted({model.backend.model for model in others})
        logger.warning("%s; its share of the records goes to %s", gone, ", ".join(names))
        whole = sum(model.weight for model in others)
        self._models = [
            heir
            for model in self._models
            for heir in (
                [replace(other, weight=model.weight * other.weight / whole) for other in others]
                if model.backend.model == gone.model
                else [model]
            )
        ]


def surviving(models: Sequence[MixedModel], run: Callable[[T], Awaitable[R]]) -> Callable[[T], Awaitable[R]]:
    """Return ``run``, which starts anew with another model where it has lost the one it had; see ``Mix``."""
    return models.surviving(run) if isinstance(models, Mix) else run
