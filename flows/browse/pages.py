"""The templates of the browser, with the filters that they use."""

from datetime import UTC, datetime

import jinja2

from infra.web.templating import web_templates
from tasks.report import formats
from tasks.report.marks import visible
from tasks.report.view import UNGROUPED
from tasks.surprise.explain.page import said_of
from tasks.surprise.explain.view import STEPS

COLORS = 8  # in the style sheet; more groups than that begin again, and their numbers tell them apart
_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_SHORT = ((10**9, "G", 10**9), (10**6, "M", 10**6), (10**4, "k", 10**3))  # from, unit, its size


def templates() -> jinja2.Environment:
    """Return the templates of all pages."""
    return web_templates(
        "flows.browse",
        filters={
            "count": formats.count,
            "fixed": formats.fixed,
            "signed": formats.signed,
            "percent": formats.percent,
            "usd": formats.usd,
            "visible": visible,
            "color": _color,
            "bytes": written_bytes,
            "short": short,
            "moment": moment,
            "ago": ago,
        },
        globals_={"steps": STEPS, "says": said_of},
    )


def written_bytes(value: int) -> str:
    """Write a size."""
    size, unit = float(value), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:,.0f} {_UNITS[unit]}" if unit == 0 or size >= 100 else f"{size:,.1f} {_UNITS[unit]}"


def short(value: float) -> str:
    """Write a large count in three digits."""
    for least, unit, size in _SHORT:
        if value >= least:
            scaled = value / size
            return f"{scaled:,.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {unit}"
    return f"{value:,.0f}"


def moment(value: datetime | None) -> str:
    """Write a moment in UTC."""
    return formats.NOTHING if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def ago(value: datetime | None) -> str:
    """Say how long ago a moment was."""
    if value is None:
        return formats.NOTHING
    seconds = (datetime.now(UTC) - value).total_seconds()
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {unit}{'' if number == 1 else 's'} ago"
    return "just now"


def _color(group: int) -> int:
    return UNGROUPED if group == UNGROUPED else (group - 1) % COLORS + 1
