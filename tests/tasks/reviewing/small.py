"""A sheet of four texts, and what reviewers say of them."""

from collections.abc import Mapping
from datetime import UTC, datetime

from tasks.reviewing.judgements import Judgement
from tasks.reviewing.sheet import Key, Sheet, Text, sheet_of
from tasks.reviewing.tells import Length, Tell

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
TEXTS = (
    Text("synthetic", "data/letters", "r1", "Dear Amina,\nthe roof leaks.", 5),
    Text("synthetic", "data/letters", "r2", "Dear Ben,\nthe roof holds.", 5),
    Text("human", "mail.jsonl", "mail.jsonl:1", "\ufeffDear Cem,  \r\n\r\nsee you.\r\n\r\n", 4),
    Text("human", "mail.jsonl", "mail.jsonl:2", "<script>alert('x')</script> & so on", 6),
)

LENGTHS = (Length.counted("drawn synthetic", {5: 2}), Length.counted("drawn human-written", {4: 1, 6: 1}))
TELLS = (Tell("Markdown", 0.5, 0.0),)


def small() -> tuple[Sheet, Key]:
    sheet, entries = sheet_of(TEXTS, seed=3)
    key = Key(sheet=sheet.digest, seed=3, factor=1.2, entries=entries, lengths=LENGTHS, longer_share=0.5, tells=TELLS)
    return sheet, key


def ids() -> dict[str, str]:
    """Name of a text -> its id on the sheet."""
    return {entry.name: entry.id for entry in small()[1].entries}


def judgement(
    item: str, natural: bool | None = None, coherent: bool | None = None, comment: str = "", at: datetime = NOON
) -> Judgement:
    return Judgement(item=item, natural=natural, coherent=coherent, comment=comment, at=at)


def said(answers: Mapping[str, str]) -> dict[str, Judgement]:
    """Name of a text -> two letters y, n or - : natural, coherent; by id."""
    meaning = {"y": True, "n": False, "-": None}
    by_name = ids()
    return {
        by_name[name]: judgement(by_name[name], meaning[each[0]], meaning[each[1]]) for name, each in answers.items()
    }
