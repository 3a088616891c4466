"""Answers that were given without a server: as JSON, which the page on its own saves, or as a CSV table."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.reviewing.judgements import MOST_COMMENT, Judgement
from tasks.reviewing.sheet import Sheet

COLUMNS = ("sheet", "reviewer", "number", "id", "text", "natural", "coherent", "comment")
MOST_TOLD = 8  # problems; more are counted

_WORDS = {"yes": True, "y": True, "no": False, "n": False, "": None}
# Without a letter before it, a spreadsheet may take 0012345678 or 12e4567890 for a number.
_SHEET, _ID = "sheet-", "id-"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a cell that starts so is run by spreadsheets


class AnswersUnfit(ValueError):
    """A file of answers cannot be read or does not fit the sheet, and nothing of it is taken; the message says why."""


class Answers(BaseModel):
    """What one reviewer has said of one sheet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    sheet: str
    reviewer: str
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """A file of answers beside the sheet and what is recorded already.

    Attributes:
        new: to be recorded.
        same: recorded already.
        changed: differ from what is recorded.
        missing: texts that have no complete judgement, neither here nor there.
    """

    new: tuple[Judgement, ...]
    same: int
    changed: tuple[Judgement, ...]
    missing: int


def read_json(data: bytes, place: str) -> Answers:
    """Read what the page on its own has saved.

    Raises:
        AnswersUnfit: it is not that.
    """
    try:
        return Answers.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise AnswersUnfit(f"{place}: {where}: {first['msg']}: give the file that the page saved, as it is") from None


def read_csv(data: bytes, place: str, at: datetime) -> Answers:
    """Read a table that a reviewer has filled in; ``at`` is when, as far as is known.

    Raises:
        AnswersUnfit: a column is missing, an answer is neither yes nor no, or rows are of several sheets or reviewers.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AnswersUnfit(f"{place}: byte {error.start} is not UTF-8: save it as CSV in UTF-8") from error
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True))
    except csv.Error as error:
        raise AnswersUnfit(f"{place}: not a CSV table: {error}") from error
    lost = [name for name in COLUMNS if name != "number" and rows and name not in rows[0]]
    if lost or not rows:
        raise AnswersUnfit(f"{place}: {'no column ' + ', '.join(lost) if lost else 'no rows'}: export the table anew")
    (sheet, reviewer) = (_only(rows, name, place) for name in ("sheet", "reviewer"))
    judgements = tuple(_row(row, f"{place}: row {number}", at) for number, row in enumerate(rows, 1))
    said = tuple(each for each in judgements if _says(each))
    return Answers(sheet=sheet.removeprefix(_SHEET), reviewer=reviewer, judgements=said)


def table(sheet: Sheet, reviewer: str, said: Mapping[str, Judgement]) -> str:
    """Write the sheet as a table to fill in, in the reviewer's order, with what is recorded already.

    Texts are data: one that a spreadsheet would take for a formula has an apostrophe before it.
    """
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(COLUMNS)
    for number, item in enumerate(sheet.order_of(reviewer), 1):
        judgement = said.get(item.id)
        answers = (None, None) if judgement is None else (judgement.natural, judgement.coherent)
        comment = "" if judgement is None else judgement.comment
        words = ["" if answer is None else "yes" if answer else "no" for answer in answers]
        row = (f"{_SHEET}{sheet.digest}", reviewer, number, f"{_ID}{item.id}", _cell(item.text), *words, _cell(comment))
        writer.writerow(row)
    return written.getvalue()


def check(answers: Answers, sheet: Sheet, recorded: Mapping[str, Judgement]) -> Checked:
    """Compare a file of answers with the sheet and with what is recorded.

    Raises:
        AnswersUnfit: it is of another sheet, names a text that is not on it, or one text twice.
    """
    if answers.sheet != sheet.digest:
        raise AnswersUnfit(f"these are answers to sheet {answers.sheet}, this is sheet {sheet.digest}")
    known = {item.id for item in sheet.items}
    times = Counter(each.item for each in answers.judgements)
    problems = [f"{item}: not on the sheet" for item in times if item not in known]
    problems += [f"{item}: stands {count} times" for item, count in times.items() if count > 1]
    if problems:
        more = f"; and {len(problems) - MOST_TOLD} more" if len(problems) > MOST_TOLD else ""
        raise AnswersUnfit("; ".join(problems[:MOST_TOLD]) + more)
    new, changed, same = [], [], 0
    for each in answers.judgements:
        before = recorded.get(each.item)
        if before is not None and each.says_as(before):
            same += 1
        elif before is None or _completes(before, each):
            new.append(each)
        else:
            changed.append(each)
    after = {**recorded, **{each.item: each for each in (*new, *changed)}}
    missing = sum(not (item in after and after[item].complete) for item in known)
    return Checked(tuple(new), same, tuple(changed), missing)


def _completes(before: Judgement, after: Judgement) -> bool:
    """Tell whether ``after`` only adds to what was said."""
    return (
        before.natural in (None, after.natural)
        and before.coherent in (None, after.coherent)
        and before.comment in ("", after.comment)
    )


def _row(row: Mapping[str, str | None], place: str, at: datetime) -> Judgement:
    comment = _plain((row["comment"] or "").strip())
    if len(comment) > MOST_COMMENT:
        raise AnswersUnfit(f"{place}: a comment of {len(comment):,} characters, {MOST_COMMENT:,} at most")
    return Judgement(
        item=(row["id"] or "").strip().removeprefix(_ID),
        natural=_answer(row, "natural", place),
        coherent=_answer(row, "coherent", place),
        comment=comment,
        at=at,
    )


def _answer(row: Mapping[str, str | None], name: str, place: str) -> bool | None:
    said = (row[name] or "").strip()
    if said.lower() not in _WORDS:
        raise AnswersUnfit(f"{place}: {name}: {said[:20]!r}: write yes or no, or leave it empty")
    return _WORDS[said.lower()]


def _says(judgement: Judgement) -> bool:
    return judgement.natural is not None or judgement.coherent is not None or bool(judgement.comment)


def _only(rows: Sequence[Mapping[str, str | None]], name: str, place: str) -> str:
    found: Iterator[str] = iter(dict.fromkeys((row[name] or "").strip() for row in rows))
    first, *others = found
    if others or not first:
        raise AnswersUnfit(f"{place}: column {name}: {[first, *others][:3]}: one and the same in all rows is wanted")
    return first


def _delimiter(text: str) -> str:
    """Tell commas from the semicolons that spreadsheets write where a comma is part of numbers."""
    head = text.partition("\n")[0]
    return ";" if head.count(";") > head.count(",") else ","


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _plain(cell: str) -> str:
    """Take off the apostrophe of ``_cell``."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell
