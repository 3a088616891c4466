"""From the values of a row to a document or a chat, or to what is wrong with them."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any, TypeGuard, get_args

from tasks.surprise.documents import Chat, Document, Interval, Label, Region, Turn
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.kinds import kind
from tasks.surprise.reading.raw import BadRow, RawRow, Slice

ROLES: tuple[str, ...] = get_args(Turn.__annotations__["role"])


def document_of(row: RawRow, source: Slice) -> Document | Chat:
    """Read a row.

    Raises:
        BadRow: it cannot be scored; it says why.
    """
    if isinstance(row.content, BadRow):
        raise row.content
    columns = source.columns
    values = source.values(row.content)
    chosen = row.name if columns.id is None else _id(columns.id, values.get(columns.id))
    group = None if columns.group is None else _scalar("bad_group", columns.group, values.get(columns.group))
    strata = {name: value for name in columns.strata if (value := _scalar("bad_stratum", name, values.get(name)))}
    if columns.messages is not None:
        turns, labelled = _turns(columns.messages, values.get(columns.messages))
        return Chat(chosen, turns, group, _labelled(columns, values, labelled), strata)
    text = _text(columns.text, values.get(columns.text))
    labels = None if columns.labels is None else values.get(columns.labels)
    regions = [] if columns.regions is None else values.get(columns.regions) or []
    supervised = None if columns.supervised is None else values.get(columns.supervised)
    return Document(
        id=chosen,
        text=text,
        group=group,
        supervised=None if supervised is None else _supervised(str(columns.supervised), supervised, text),
        labels=() if labels is None else _labels(str(columns.labels), labels, text),
        labelled=_labelled(columns, values, labels is not None),
        regions=tuple(
            Region(start, end, each.get("name") or "")
            for start, end, each in _intervals("bad_region", str(columns.regions), regions, text, "name")
        ),
        strata=strata,
    )


def id_of(row: RawRow, source: Slice) -> str:
    """Return the id that a row's document, or its reject, has: the given one where there is one that can be used."""
    if isinstance(row.content, BadRow) or source.columns.id is None:
        return row.name
    try:
        return _id(source.columns.id, source.values(row.content).get(source.columns.id))
    except BadRow:
        return row.name


def _id(column: str, value: object) -> str:
    if value is None or value == "":
        raise BadRow("missing_id", f"no {column!r}")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadRow("bad_id", f"{column}: {kind(value)}; an id is a text or a whole number")
    return str(value)


def _scalar(reason: str, column: str, value: object) -> str | None:
    """Return a text or number as text; None for none, as which data frames also write NaN, and tables an empty text."""
    if value is None or value == "" or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return str(value)
    raise BadRow(reason, f"{column}: {kind(value)}, neither a text nor a number")


def _text(column: str, value: object) -> str:
    if value is None:
        raise BadRow("missing_text", f"no {column!r}")
    if not isinstance(value, str):
        raise BadRow("bad_text", f"{column}: {kind(value)}, not a text")
    if not value:
        raise BadRow("empty_text", f"{column}: empty, there is nothing to score")
    return value


def _labelled(columns: Columns, values: Mapping[str, Any], by_labels: bool) -> bool:
    """Tell whether somebody looked: as the column for it says, else by whether there are labels, if only none."""
    if columns.labelled is None:
        return by_labels
    value = values.get(columns.labelled)
    if not isinstance(value, bool | None):
        raise BadRow("bad_labelled", f"{columns.labelled}: {kind(value)}, neither true nor false")
    return bool(value)


def _labels(column: str, value: object, text: str) -> tuple[Label, ...]:
    found = []
    for start, end, each in _intervals("bad_label", column, value, text, "category"):
        category = (each.get("category") or "").strip()
        found.append(Label(start, end, category) if category else Label(start, end))
    return tuple(found)


def _supervised(column: str, value: object, text: str) -> tuple[Interval, ...]:
    return tuple(Interval(start, end) for start, end, _ in _intervals("bad_supervised", column, value, text, "name"))


def _turns(column: str, value: object) -> tuple[Sequence[Turn], bool]:
    """Return the turns, and whether any of them has labels, if only none."""
    if value is None:
        raise BadRow("missing_text", f"no {column!r}")
    if not isinstance(value, list):
        raise BadRow("bad_messages", f"{column}: {kind(value)}, not a list of messages")
    turns, labelled = [], False
    for place, message in enumerate(value):
        where = f"{column}[{place}]"
        if not isinstance(message, Mapping):
            raise BadRow("bad_messages", f"{where}: {kind(message)}, not an object with role and content")
        role, content, labels = message.get("role"), message.get("content"), message.get("labels")
        if role not in ROLES:
            raise BadRow("bad_messages", f"{where}: the role is none of {', '.join(ROLES)}")
        if not isinstance(content, str):
            raise BadRow("bad_messages", f"{where}: content is {kind(content)}, not a text")
        turns.append(Turn(role, content, () if labels is None else _labels(f"{where}.labels", labels, content)))
        labelled |= labels is not None
    if not any(turn.content for turn in turns):
        raise BadRow("empty_text", f"{column}: no message has any content")
    return tuple(turns), labelled


def _intervals(
    reason: str, column: str, value: object, text: str, name: str
) -> Iterable[tuple[int, int, Mapping[str, Any]]]:
    """Yield start, end and the whole of each interval of a list, checked against the text."""
    if not isinstance(value, list):
        raise BadRow(reason, f"{column}: {kind(value)}, not a list of intervals")
    for place, each in enumerate(value):
        where = f"{column}[{place}]"
        if not isinstance(each, Mapping):
            raise BadRow(reason, f"{where}: {kind(each)}, not an object with start and end")
        start, end = each.get("start"), each.get("end")
        if not (_is_whole(start) and _is_whole(end)):
            raise BadRow(reason, f"{where}: start and end are needed, as whole numbers")
        if not 0 <= start < end <= len(text):
            raise BadRow(
                reason,
                f"{where}: [{start}, {end}) is no part of a text of {len(text)} characters: offsets are code points",
            )
        if not isinstance(each.get(name), str | None):
            raise BadRow(reason, f"{where}: {name} is {kind(each.get(name))}, not a text")
        yield start, end, each


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
