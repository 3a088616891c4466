"""What one answer is drawn from: a generator, the prompt, and the people it is about."""

from collections.abc import Mapping
from random import Random

from infra.engines.simulator import stock
from infra.engines.simulator.languages import STOCKS
from infra.engines.simulator.prompt import Brief

_CAST = 4  # people who turn up again and again in one text


class Scene:
    """The state of one answer while it is written.

    Attributes:
        rng: the only source of chance.
        brief: the prompt.
        language: the stock to write from; None is English.
        first, last: name of the person in question, from the prompt's facts where they have it.
        given: values settled beforehand, by property name; at first the prompt's facts.
        depth: references of the schema followed on the way to the value in work.
    """

    __slots__ = ("_cast", "brief", "depth", "first", "given", "language", "last", "rng")

    def __init__(self, rng: Random, brief: Brief, language: str) -> None:
        self.rng = rng
        self.brief = brief
        self.language = STOCKS.get(language)
        self.given: Mapping[str, str] = brief.facts
        self.depth = 0
        self._cast: list[str] = []
        first, _, last = brief.facts.get("name", "").partition(" ")
        self.first = brief.facts.get("first_name") or first or self._first()
        self.last = brief.facts.get("last_name") or last or self._last()

    def meet_another(self) -> None:
        """Let what follows be about somebody else."""
        self.first, self.last = self._first(), self._last()

    def name(self) -> str:
        """Write the full name of the person in question, as the language has it."""
        return self._full(self.first, self.last)

    def someone(self) -> str:
        """Draw one of the few other people who turn up in this answer."""
        if not self._cast:
            self._cast = [self._full(self._first(), self._last()) for _ in range(_CAST)]
        return stock.pick(self.rng, self._cast)

    def _first(self) -> str:
        return stock.pick(self.rng, self.language.given) if self.language else stock.first_name(self.rng)

    def _last(self) -> str:
        return stock.pick(self.rng, self.language.family) if self.language else stock.last_name(self.rng)

    def _full(self, first: str, last: str) -> str:
        return self.language.name.format(given=first, family=last) if self.language else f"{first} {last}"
