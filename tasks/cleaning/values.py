"""What a caller names: a fact by its key, which is to be looked for in the clean text."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

Worded = Annotated[str, StringConstraints(pattern=r"[^\s\x00]", max_length=2000)]


class Value(BaseModel):
    """A value and what it is of, such as ``name`` and ``Amina Karim``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Worded
    value: Worded


class ValuesUnusable(ValueError):
    """Values are not given as they have to be; the message tells none of them."""


_VALUES = TypeAdapter(tuple[Value, ...])


def named_values(assignments: Iterable[str], file: Path | None) -> tuple[Value, ...]:
    """Read values from ``KEY=VALUE`` texts and from a JSON file: a list of objects with ``key`` and ``value``.

    Raises:
        ValuesUnusable: one is empty or of another form, or the file is no such list.
    """
    values = [_assigned(number, each) for number, each in enumerate(assignments, 1)]
    if file is None:
        return tuple(values)
    try:
        return (*values, *_VALUES.validate_python(json.loads(file.read_text(encoding="utf-8"))))
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"]))
        raise ValuesUnusable(f'{file}: {place or "all of it"}: give a list of {{"key": ..., "value": ...}}') from None
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or nested beyond measure
        raise ValuesUnusable(f"{file}: cannot be read as JSON in UTF-8") from error


def _assigned(number: int, text: str) -> Value:
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ValuesUnusable(f"value {number}: give KEY=VALUE, such as name=Amina Karim, neither of them empty")
    return Value(key=key.strip(), value=value.strip())
