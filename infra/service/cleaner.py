"""What the service needs of whoever cleans: it knows no prompts, only outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from infra.service.wire import CleanAnswer, CleanItem

TIMEOUT, UNAVAILABLE = "timeout", "backend_unavailable"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a text is not clean.

    Attributes:
        reason: ``TIMEOUT``, ``UNAVAILABLE``, or what was wrong with text or answer.
        message: tells nothing of the text.
        ours: whether the text is at fault, not the model.
    """

    reason: str
    message: str
    ours: bool = False


class ServedCleaner(Protocol):
    """Cleans the texts of requests."""

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    @property
    def at_once(self) -> int:
        """Texts that the model reads side by side."""
        ...

    async def clean(self, items: Sequence[CleanItem], deadline: float) -> list[CleanAnswer | Failure]:
        """Return what became of each item by ``deadline`` (of the event loop's clock), in order; never raises."""
        ...

    async def ready(self) -> bool:
        """Tell whether the model answers."""
        ...
