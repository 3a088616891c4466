"""What stands between the service, which knows HTTP, and the cleaner, which knows texts."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from infra.llm.types import BackendUnavailable
from infra.service.cleaner import TIMEOUT, UNAVAILABLE, Failure
from infra.service.wire import CleanAnswer, CleanItem
from tasks.cleaning.clean import Cleaned, Cleaner
from tasks.cleaning.diff import has_word
from tasks.cleaning.failure import CleaningFailed, advice
from tasks.cleaning.private_file import map_with
from tasks.cleaning.pseudonyms import Pseudonym
from tasks.cleaning.report import report_of
from tasks.cleaning.values import Value
from tasks.concurrency import map_bounded
from tasks.events import MemoryLog

ITEMS_AT_ONCE = 4  # of one bulk request: others have their turn, too
HEALTH_S = 5.0  # how long the model may take to answer, and how long an answer counts
_OURS = ("too_long", "unicode")  # the text is at fault


class Served:
    """Cleans the texts of requests; see ``infra.service.cleaner.ServedCleaner``."""

    def __init__(
        self, cleaner: Cleaner, pseudonyms: Path | None, check: Callable[[], None] | None, *, at_once: int
    ) -> None:
        """Serve.

        Args:
            cleaner: opened.
            pseudonyms: file of the map, if values are to have pseudonyms.
            check: raises ``BackendUnavailable`` where the model does not answer; None where it is in this process.
            at_once: texts that the model reads side by side.
        """
        self._cleaner, self._map, self._check = cleaner, pseudonyms, check
        self._at_once = at_once
        self._ready, self._ready_until = False, float("-inf")
        self._asking = asyncio.Lock()

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._cleaner.backend.model

    @property
    def at_once(self) -> int:
        """Texts that the model reads side by side."""
        return self._at_once

    async def clean(self, items: Sequence[CleanItem], deadline: float) -> list[CleanAnswer | Failure]:
        """Clean each; what is not done by ``deadline`` has failed."""

        async def one(item: CleanItem) -> CleanAnswer | Failure:
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._one(item)
            except TimeoutError:
                return Failure(TIMEOUT, "it took too long: send less at once, or come again later")
            except CleaningFailed as failed:
                return Failure(failed.reason, advice(failed.reason), ours=failed.reason in _OURS)
            except BackendUnavailable:  # its message may quote what a server said
                return Failure(UNAVAILABLE, "the model does not answer")

        return await map_bounded(one, items, ITEMS_AT_ONCE)

    async def _one(self, item: CleanItem) -> CleanAnswer:
        values = tuple(Value(key=each.key, value=each.value) for each in item.values)
        cleaner = self._cleaner
        if self._map is not None:
            cleaner = Cleaner(cleaner.backend, cleaner.config, await asyncio.to_thread(_known, self._map, values))
        cleaned = Cleaned(())
        if has_word(item.text):
            cleaned = await cleaner.clean("request", item.text, item.instruction, MemoryLog())
        text = cleaned.text if cleaned.parts else item.text
        made = report_of(cleaned, values, cleaner.backend.model).model_dump(mode="json") if item.report else None
        return CleanAnswer(text=text, model=cleaner.backend.model, report=made)

    async def ready(self) -> bool:
        """Ask the model's server, at most once in ``HEALTH_S`` seconds."""
        if self._check is None:
            return True
        loop = asyncio.get_running_loop()
        async with self._asking:
            if loop.time() >= self._ready_until:
                self._ready = await self._answers(self._check)
                self._ready_until = loop.time() + HEALTH_S
        return self._ready

    async def _answers(self, check: Callable[[], None]) -> bool:
        try:
            async with asyncio.timeout(HEALTH_S):
                await asyncio.to_thread(check)
        except (BackendUnavailable, TimeoutError):
            return False
        return True


def _known(path: Path, values: tuple[Value, ...]) -> tuple[Pseudonym, ...]:
    return map_with(path, values).pseudonyms
