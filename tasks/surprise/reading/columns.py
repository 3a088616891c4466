"""Which columns of a row mean what."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Columns(BaseModel):
    """Names of columns of Parquet, or of keys of JSON lines; None where there is no such column."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(default="text", min_length=1, description="a text; not used where there are messages")
    messages: str | None = Field(default=None, description="a chat: list of role, content, and optionally labels")
    id: str | None = Field(default=None, description="unique in the data set; without, it is derived from the place")
    group: str | None = Field(default=None, description="identity or user within which duplicates propagate")
    labels: str | None = Field(default=None, description="private spans: list of start, end, category")
    labelled: str | None = Field(default=None, description="true where somebody looked for private spans")
    regions: str | None = Field(default=None, description="fields of the text: list of start, end, name")
    supervised: str | None = Field(
        default=None, description="where the text counts and may be masked: list of start, end; the rest is context"
    )
    strata: tuple[str, ...] = Field(default=(), description="what results are broken down by")

    @model_validator(mode="after")
    def _offsets_need_a_text(self) -> Self:
        if self.messages is not None and (self.labels or self.regions or self.supervised):
            raise ValueError(
                "labels, regions and supervised parts are offsets in a text, and a chat has none before it is rendered:"
                " put labels into its messages, counted from the start of each content"
            )
        return self

    @property
    def content(self) -> str:
        """The column of the text or of the messages."""
        return self.text if self.messages is None else self.messages

    def used(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        offsets = (self.labels, self.labelled, self.regions, self.supervised)
        named = (self.content, self.id, self.group, *offsets, *self.strata)
        return tuple(dict.fromkeys(name for name in named if name is not None))


RECORDS = Columns(  # of the factory's own data sets, as ``records.values`` gives their rows
    id="record_id", group="record_id", labels="labels", strata=("language", "domain", "record_type")
)
