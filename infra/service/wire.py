"""What goes in and out of the service, as its OpenAPI document shows it."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints
from pydantic_core import PydanticCustomError

from infra.service.limits import ServiceLimits

_WORD = r"[^\s\x00]"  # more than white space


def _whole(text: str) -> str:
    """Refuse half a surrogate pair, which no answer could carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("half_character", "half a surrogate pair") from None
    return text


Text = Annotated[str, AfterValidator(_whole)]
Worded = Annotated[Text, StringConstraints(pattern=_WORD, max_length=2000)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NamedValue(_Frozen):
    """A value to look for in the clean text, and what it is of."""

    key: Worded = Field(examples=["name"])
    value: Worded = Field(examples=["Amina Karim"])


class CleanItem(_Frozen):
    """One text and what to do with it."""

    text: Text = Field(examples=["Amina Karim was seen on 12 May."])
    instruction: Annotated[Text, StringConstraints(pattern=_WORD, max_length=8000)] = Field(
        examples=["Leave out all names."]
    )
    values: tuple[NamedValue, ...] = Field(default=(), max_length=256)
    report: bool = Field(default=False, description="say what became of each value, and what else was changed")


class BatchBody(_Frozen):
    """Several texts, each with its own instruction."""

    items: tuple[CleanItem, ...] = Field(min_length=1)


class CleanAnswer(_Frozen):
    """A clean text."""

    text: str
    model: str
    report: dict[str, JsonValue] | None = Field(
        default=None,
        description="`values`: of each, the places where it stood with their fate (dropped, abstracted, partly_kept,"
        " kept), and where it remains; `elsewhere`: the other changes; places in code points",
    )


class ErrorBody(_Frozen):
    """Why there is no clean text. It never quotes the text."""

    error: str = Field(description="a short name to act on")
    message: str


class ItemAnswer(_Frozen):
    """What became of one text of a bulk request: `clean` or `error`."""

    status: Literal["clean", "failed"]
    clean: CleanAnswer | None = None
    error: ErrorBody | None = None


class BatchAnswer(_Frozen):
    """What became of each text, in their order."""

    items: tuple[ItemAnswer, ...]


class Health(_Frozen):
    """Whether the service lives (it answers) and is ready (its model does), which model that is, and its breadth."""

    live: Literal[True] = True
    ready: bool
    model: str
    at_once: int = Field(description="requests that are answered side by side; more only wait")


def too_much(item: CleanItem, limits: ServiceLimits) -> str | None:
    """Return what is over the limits, None where nothing is."""
    if len(item.text) > limits.text_characters:
        return f"text: {len(item.text)} characters, at most {limits.text_characters} are taken"
    return None
