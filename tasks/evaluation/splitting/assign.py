"""Who is in which split (PV section 4.2): decided by a hash of the person, so that more data never moves a record."""

import hashlib
import json
from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.evaluation.splits import Split
from tasks.synthesis.grounding import fold

_BITS = 53  # of a float's fraction


class SplitConfig(BaseModel):
    """How large the splits are. The shares are of people; another seed draws other people."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    test: float = Field(default=0.1, gt=0, lt=1, description="share set aside for the vanilla and the hard test")
    validation: float = Field(default=0.05, ge=0, lt=1, description="share for validation")
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _leaves_something(self) -> Self:
        if self.test + self.validation >= 1:
            raise ValueError(f"test {self.test:g} and validation {self.validation:g} leave nothing to train on")
        return self


@dataclass(frozen=True, slots=True)
class Assignment:
    """The split of a triplet, and why, in a short name to count by."""

    split: Split
    reason: str


def person_of(first_name: str, last_name: str) -> str:
    """Hash who a record is about.

    People of the same full name, be they written in another letter case or Unicode form, count as one: so equal
    profiles always do, and those that a weak model has made alike, too.
    """
    spelled = json.dumps([fold(name)[0].strip() for name in (first_name, last_name)])
    return hashlib.blake2b(spelled.encode(), digest_size=16).hexdigest()


def place_of(person: str, seed: int) -> float:
    """Return where a person stands among all, from 0 to 1, 1 not included."""
    digest = hashlib.blake2b(f"{seed}/{person}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> (64 - _BITS)) / float(1 << _BITS)


def assign(place: float, config: SplitConfig, *, verified: bool, full_success: bool | None) -> Assignment:
    """Decide what a triplet is for.

    Args:
        place: of its person, see ``place_of``.
        config: the shares.
        verified: no value of a target was found in its sanitized text, be it in another case, white space or form.
        full_success: what the evaluator, who looks for values letter by letter, says of the pipeline's own text; None
            where it could not, or did not, judge.
    """
    if place < config.test:
        if full_success is None:
            return Assignment("test", "not_evaluated")
        if not full_success:
            return Assignment("hard", "no_full_success")
        return Assignment("vanilla", "full_success") if verified else Assignment("hard", "unverified")
    split: Split = "validation" if place < config.test + config.validation else "train"
    return Assignment(split, "verified") if verified else Assignment("left_out", "unverified")
