"""The paper's own figures, to be shown beside ours (``paper.toml`` names the table each comes from)."""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SetFacts(_Facts):
    """What PV section 2 and appendix A say of the whole set; shares are fractions of one."""

    records: int
    attributes: int
    attributes_a_record: float
    groups_a_record: float
    attributes_a_group: float
    text_words: float
    context_words: float
    format_words: float
    record_type_words: float
    kept_share: float
    female_share: float
    non_us_share: float
    usd_per_10k_records: float


class Reference(_Facts):
    """A row of Table 2, 8 or 9: diversity as the paper measured it; None where that table has no such column."""

    name: str
    domain: str = ""
    human_written: bool = False
    records: int | None = None
    mattr: float
    bigram_diversity: float
    entropy_bits: float
    cosine: float
    vendi: float | None = None
    words: float | None = None


class Paper(_Facts):
    """All of ``paper.toml``."""

    set: SetFacts
    table2: tuple[Reference, ...]
    table8: tuple[Reference, ...]
    table9: tuple[Reference, ...]


PAPER = Paper.model_validate(tomllib.loads(Path(__file__).with_name("paper.toml").read_text(encoding="utf-8")))
