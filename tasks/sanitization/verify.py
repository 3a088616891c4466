"""Whether a sanitized text still tells its targets: direct leaks, letter by letter, then folded (PV section 4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.sanitization.occurrences import Leak, leaks
from tasks.sanitization.targets import Target


@dataclass(frozen=True, slots=True)
class TargetLeak:
    """A value of one target that is still there."""

    target: int
    leak: Leak


def verify(text: str, targets: Sequence[Target]) -> tuple[TargetLeak, ...]:
    """Return what still stands in ``text`` of each target, in their order."""
    return tuple(
        TargetLeak(number, leak)
        for number, target in enumerate(targets)
        for leak in leaks(text, ((attribute.key, attribute.value) for attribute in target.attributes))
    )
