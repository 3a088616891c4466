"""The data card of an export: a README with the head that the hub reads, generated from what was counted."""

from collections.abc import Mapping

import jinja2
import orjson

from tasks.evaluation.report.paper import PAPER
from tasks.export.facts import Facts
from tasks.export.licences import UNKNOWN, common_licence, licence_of
from tasks.export.rows import CHATS, PROMPT_SHA
from tasks.report import formats
from tasks.synthesis.options import load_options

_SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def data_card(facts: Facts) -> str:
    """Write the card."""
    models = {**facts.writers, **facts.sanitizers}
    codes = {language.name: language.code for language in load_options().languages}
    return _TEMPLATES.get_template("README.md.jinja").render(
        facts=facts,
        paper={split.split: split for split in PAPER.splits},
        licence=common_licence(models),
        licences={model: licence.name if (licence := licence_of(model)) else UNKNOWN for model in sorted(models)},
        codes=sorted({codes[language] for language in facts.languages if language in codes}),
        size=size_category(facts.triplets),
        columns=CHATS.names,
        prompt_sha=PROMPT_SHA,
    )


def size_category(rows: int) -> str:
    """Name the hub's class of sizes, such as ``1K<n<10K``."""
    names = ["n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M"]
    return names[sum(rows >= size for size in _SIZES)]


def _shares(counts: Mapping[str, int]) -> list[tuple[str, int, str]]:
    whole = sum(counts.values())
    return [(name, rows, formats.percent(rows / whole)) for name, rows in sorted(counts.items(), key=_by_size)]


def _by_size(each: tuple[str, int]) -> tuple[int, str]:
    return -each[1], each[0]


def _cell(text: str) -> str:
    """Write a text that others have chosen, so that it stays within its cell."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
    return f"`{plain}`"


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tasks.export"),
        autoescape=False,  # Markdown; names that others have chosen go through ``cell`` or ``quoted``
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "count": formats.count,
        "fixed": formats.fixed,
        "percent": formats.percent,
        "usd": formats.usd,
        "shares": _shares,
        "cell": _cell,
        "quoted": lambda text: orjson.dumps(text).decode(),  # JSON is YAML
    }
    return environment


_TEMPLATES = _environment()
