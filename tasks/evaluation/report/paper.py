"""The paper's figures (``paper.toml`` names the table each comes from), to be shown beside ours; in percent."""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Table4Row(_Facts):
    """A model on one of the two tests."""

    name: str
    set: str
    attribute: float
    attribute_per_record: float
    record: float
    kept_attribute: float
    kept_per_record: float
    kept_record: float
    full_record: float


class Table5Row(_Facts):
    """The three kinds of leak among a model's leaks on the vanilla test."""

    name: str
    direct: float
    inference: float
    proximity: float


class Part(_Facts):
    """A share of the failures."""

    name: str
    percent: float


class TopRow(_Facts):
    """A model's eight largest shares of failures."""

    name: str
    top: tuple[Part, ...]


class Table7Row(_Facts):
    """A model on NaP²."""

    name: str
    leak_ratio: float


class AgreementFacts(_Facts):
    """Two evaluators on the proximity question."""

    percent: float
    cases: int


class SplitFacts(_Facts):
    """What is in a split."""

    split: str
    records: int
    targets: float | None = None
    instruction_words: float
    grouped_percent: float | None = None
    words: float


class Paper(_Facts):
    """All of ``paper.toml``."""

    table4: tuple[Table4Row, ...]
    table5: tuple[Table5Row, ...]
    table6: tuple[TopRow, ...]
    table7: tuple[Table7Row, ...]
    table10: tuple[TopRow, ...]
    agreement: AgreementFacts
    splits: tuple[SplitFacts, ...]


PAPER = Paper.model_validate(tomllib.loads(Path(__file__).with_name("paper.toml").read_text(encoding="utf-8")))
