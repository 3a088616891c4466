"""What the generator, not the model, decides about a person (PV section 2.1 and appendix A).

The model then chooses sex, ethnicity, citizenship and life event from a shortlist: the whole lists would fill the
prompt of a small model, and a drawn shortlist spreads the choices of any model over the whole lists.
"""

import datetime
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.synthesis import seeds, taxonomy
from tasks.synthesis.names import FirstName, NamesConfig, first_names
from tasks.synthesis.options import Country, Language, LifeEvent, Options, load_options

Stream = Callable[[str], np.random.Generator]  # from the name of a choice to the generator of that choice
DomainWeighting = Literal["paper", "uniform"]
_Item = TypeVar("_Item")


class DrawConfig(BaseModel):
    """The population that a run draws from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: NamesConfig = Field(default=NamesConfig(), description="which first names are drawn, and how")
    min_age: int = Field(default=19, ge=0, le=120, description="youngest age drawn; below 18 the age filter drops all")
    max_age: int = Field(default=85, ge=0, le=120, description="oldest age drawn")
    first_date: datetime.date = Field(default=datetime.date(2000, 1, 1), description="earliest date of the life event")
    last_date: datetime.date = Field(default=datetime.date(2023, 12, 31), description="latest date of the life event")
    domain_weighting: DomainWeighting = Field(
        default="paper", description="how the domains of life events are drawn: by the shares of Table 1, or 'uniform'"
    )
    ethnicities_shown: int = Field(default=8, ge=1, description="ethnicities that the model chooses from")
    countries_shown: int = Field(default=8, ge=1, description="citizenships that the model chooses from")
    events_shown: int = Field(default=6, ge=1, description="life events that the model chooses from")

    @model_validator(mode="after")
    def _ranges_are_not_empty(self) -> Self:
        if self.min_age > self.max_age:
            raise ValueError(f"min_age {self.min_age} is above max_age {self.max_age}")
        if self.first_date > self.last_date:
            raise ValueError(f"first_date {self.first_date} is after last_date {self.last_date}")
        return self


@dataclass(frozen=True, slots=True)
class Shortlist:
    """What the model chooses from for one person: all sexes in their usual order, the rest drawn, in drawn order."""

    sexes: tuple[str, ...]
    ethnicities: tuple[str, ...]
    countries: tuple[Country, ...]
    events: tuple[LifeEvent, ...]


@dataclass(frozen=True, slots=True)
class Draws:
    """One person's fixed draws, all independent; ``event_date`` is when the chosen life event takes place."""

    first_name: FirstName
    age: int
    income_class: str
    blood_type: str
    marital_status: str
    language: Language
    event_date: datetime.date
    shortlist: Shortlist


def draw(run_seed: int, record_id: str, config: DrawConfig) -> Draws:
    """Draw what is fixed about the person of ``record_id``: the same whenever, wherever and beside whatever.

    Raises:
        ValueError: ``config`` asks for years without names, or for a shortlist longer than the list.
    """
    stream = partial(seeds.rng, run_seed, record_id)
    options = load_options()
    age = int(stream("age").integers(config.min_age, config.max_age, endpoint=True))
    days = (config.last_date - config.first_date).days
    return Draws(
        first_name=first_names(config.names).draw(stream("first name")),
        age=age,
        income_class=_one(options.income_classes, stream("income class")),
        blood_type=_one(options.blood_types, stream("blood type")),
        marital_status=_one(options.marital_states, stream("marital status")),
        language=_one(options.languages, stream("language")),
        event_date=config.first_date + datetime.timedelta(int(stream("event date").integers(days, endpoint=True))),
        shortlist=draw_shortlist(options, stream, age, config),
    )


def draw_shortlist(options: Options, stream: Stream, age: int, config: DrawConfig) -> Shortlist:
    """Draw what the model may choose from for a person of ``age`` years.

    Raises:
        ValueError: a list, or what of the life events fits the age, is shorter than the asked shortlist.
    """
    return Shortlist(
        sexes=options.sexes,
        ethnicities=_some(options.ethnicities, config.ethnicities_shown, stream("ethnicities"), "ethnicities"),
        countries=_some(options.countries, config.countries_shown, stream("countries"), "countries"),
        events=draw_events(options.events, config.events_shown, stream("events"), age, config.domain_weighting),
    )


def draw_events(
    events: Sequence[LifeEvent], k: int, rng: np.random.Generator, age: int, weighting: DomainWeighting
) -> tuple[LifeEvent, ...]:
    """Draw ``k`` distinct events that fit ``age``: for each a domain by ``weighting``, then an event within it.

    Domains without an event that fits, or with none left, take no part.

    Raises:
        ValueError: fewer than ``k`` events fit.
    """
    left: dict[str, list[LifeEvent]] = defaultdict(list)
    for event in events:
        if event.fits(age):
            left[event.domain].append(event)
    if (fitting := sum(map(len, left.values()))) < k:
        raise ValueError(f"{k} life events asked for age {age}, but only {fitting} fit: lower events_shown or add some")
    drawn = []
    for _ in range(k):
        domains = [domain for domain, fit in left.items() if fit]
        within = left[_weighted(domains, weighting, rng)]
        drawn.append(within.pop(int(rng.integers(len(within)))))
    return tuple(drawn)


def _weighted(domains: Sequence[str], weighting: DomainWeighting, rng: np.random.Generator) -> str:
    if weighting == "uniform":
        return _one(domains, rng)
    ends = np.cumsum([taxonomy.domain_named(domain).percent for domain in domains])
    return domains[int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))]


def _one(items: Sequence[_Item], rng: np.random.Generator) -> _Item:
    return items[int(rng.integers(len(items)))]


def _some(items: Sequence[_Item], k: int, rng: np.random.Generator, what: str) -> tuple[_Item, ...]:
    if k > len(items):
        raise ValueError(f"{k} {what} asked for a shortlist, but there are only {len(items)}: lower {what}_shown")
    return tuple(items[int(i)] for i in rng.choice(len(items), size=k, replace=False))
