"""A run file with every setting, written from the models that check it, so that it cannot go stale."""

import inspect
import json
import textwrap
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from flows.config import RunConfig

WIDTH = 100
_HEADER = """A run of `privasis synthesize`: every setting with its default. Delete what you do not change.
What is commented out is not set, or belongs to another kind of the table above it."""
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def run_file() -> str:
    """Return the text of a run file that loads to the defaults of ``RunConfig``."""
    return "\n".join([*_comment(_HEADER), "", *_table(RunConfig(), "")]) + "\n"


def _table(table: BaseModel, place: str) -> Iterator[str]:
    """Write a table: its plain settings first, as TOML wants it, then the tables in it."""
    tables = []
    for name, field in _fields(type(table)):
        value = getattr(table, name)
        if _is_table(value) or (value is None and _optional_table(field)):
            tables.append((name, field, value))
        else:
            yield from _setting(name, field, value)
    for name, field, value in tables:
        within = f"{place}.{name}" if place else name
        if (kind := _optional_table(field)) and value is None:
            blank, *lines = _unused(kind, within)
            yield from (blank, *_comment(field.description or ""), *lines)
            continue
        several = isinstance(value, tuple)
        for one in value if several else (value,):
            yield from ("", *_comment(field.description or _summary(type(one))))
            yield f"[[{within}]]" if several else f"[{within}]"
            yield from _table(one, within)
        for kind in get_args(field.annotation) if field.discriminator else ():
            if not isinstance(value, kind):
                yield from _unused(kind, within)


def _unused(kind: type[BaseModel], place: str) -> Iterator[str]:
    """Write a table that could stand there instead, commented out."""
    yield from ("", *_comment(_summary(kind)), f"# [{place}]")
    tables = []
    for name, field in _fields(kind):
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            tables.append((name, field.annotation))
        else:
            value = None if field.is_required() else field.get_default(call_default_factory=True)
            yield from (f"# {line}" for line in _setting(name, field, value))
    for name, table in tables:
        yield from _unused(table, f"{place}.{name}")


def _fields(table: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    """Return the fields, first of all the one that says of which kind the table is."""
    return sorted(table.model_fields.items(), key=lambda item: item[0] != "kind")


def _setting(name: str, field: FieldInfo, value: object) -> Iterator[str]:
    meaning = [*([field.description] if field.description else []), *_limits(field)]
    yield from _comment("; ".join(meaning))
    if value is not None:
        yield f"{name} = {_toml(value)}"
    else:
        yield f"{name} =  # has to be said" if field.is_required() else f"# {name} ="


def _limits(field: FieldInfo) -> list[str]:
    bounds = [
        f"{words} {getattr(bound, sign)}"
        for bound in field.metadata
        for sign, words in _BOUNDS.items()
        if hasattr(bound, sign)
    ]
    choices = _choices(field.annotation)
    return [*([", ".join(bounds)] if bounds else []), *([f"one of {', '.join(choices)}"] if len(choices) > 1 else [])]


def _choices(annotation: Any) -> list[str]:  # noqa: ANN401 - a type of any form
    if get_origin(annotation) is Literal:
        return [json.dumps(value) for value in get_args(annotation)]
    return [choice for each in get_args(annotation) for choice in _choices(each)]


def _is_table(value: object) -> bool:
    return isinstance(value, BaseModel) or (isinstance(value, tuple) and any(map(_is_table, value)))


def _optional_table(field: FieldInfo) -> type[BaseModel] | None:
    """Return the kind of a table that may be left out."""
    kinds = [kind for kind in get_args(field.annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return kinds[0] if len(kinds) == 1 and type(None) in get_args(field.annotation) else None


def _summary(table: type[BaseModel]) -> str:
    return (inspect.getdoc(table) or "").partition("\n")[0]


def _comment(text: str) -> list[str]:
    return [f"# {line}" for part in text.splitlines() for line in textwrap.wrap(part, WIDTH)]


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float() | date():
            return str(value)
        case str() | Path():
            return json.dumps(str(value), ensure_ascii=False)
        case tuple() | list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return f"{{{', '.join(f'{json.dumps(key)} = {_toml(item)}' for key, item in value.items())}}}"
        case _:
            raise TypeError(f"no TOML for a {type(value).__name__}")
