"""``privasis review export`` and ``import``: reviewing without a server."""

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from flows.commands.review.unfit import as_usage
from flows.commands.wording import counted
from flows.config import ConfigError
from flows.review.folder import ReviewFolder
from flows.review.pages import offline_page
from flows.review.reviewers import read_reviewers, with_reviewers
from infra.shards import files
from tasks.reviewing import answers
from tasks.reviewing.judgements import reviewer_name
from tasks.reviewing.sheet import SheetUnfit

_LISTED = 8  # differing answers; more are counted


def export(folder: Path, reviewer: str, output: Path | None) -> None:
    """Write the sheet of ``reviewer`` to one file, as a page or a table by its suffix.

    Raises:
        ConfigError: there is no review, the name or the suffix is not one.
    """
    review = ReviewFolder(folder)
    with as_usage():
        sheet = review.sheet()
        name = _known_as(review, reviewer)
        said = review.judgements([name])[name]
        output = output or Path(f"{name}.html")
        match output.suffix.lower():
            case ".html" | ".htm":
                written = offline_page(sheet, name, said)
                how = "opens in a browser, `Save answers` there gives a file back"
            case ".csv":
                written = "\ufeff" + answers.table(sheet, name, said)  # the mark tells spreadsheets that it is UTF-8
                how = "yes or no in the columns natural and coherent"
            case other:
                raise ConfigError(f"--output {output}: {other or 'no suffix'}: .html is the page, .csv a table")
    files.put(output, written.encode("utf-8"))
    _line(f"{output}: {counted(len(sheet.items), 'text')} for {name}; {how}")
    _line(f"Then: privasis review import {shlex.quote(str(folder))} FILE")


def take(folder: Path, paths: Sequence[Path], *, replace: bool) -> None:
    """Record the answers in files; each is checked whole before anything of it is recorded.

    Raises:
        ConfigError: a file does not fit the sheet, or differs from what is recorded and may not replace it.
    """
    review = ReviewFolder(folder)
    for path in paths:
        with as_usage():
            _take(review, path, replace=replace)


def _take(review: ReviewFolder, path: Path, *, replace: bool) -> None:
    sheet = review.sheet()
    given = _read(path)
    known = read_reviewers(review.reviewers_file).names
    if given.reviewer not in known:
        raise SheetUnfit(
            f"{path}: reviewer {given.reviewer!r}: there are {', '.join(known) or 'none'}: export makes them"
        )
    recorded = review.judgements([given.reviewer])[given.reviewer]
    try:
        checked = answers.check(given, sheet, recorded)
    except answers.AnswersUnfit as error:
        raise SheetUnfit(f"{path}: {error}") from error
    if checked.changed and not replace:
        listed = ", ".join(each.item for each in checked.changed[:_LISTED])
        more = f" and {len(checked.changed) - _LISTED} more" if len(checked.changed) > _LISTED else ""
        raise SheetUnfit(
            f"{path}: differs from what is recorded of {listed}{more}: nothing was taken; with --replace the file holds"
        )
    review.log.append(given.reviewer, [*checked.new, *checked.changed])
    _line(
        f"{path}: {given.reviewer}: {counted(len(checked.new), 'new judgement')}, {checked.same} there already,"
        f" {len(checked.changed)} changed, {counted(checked.missing, 'text')} still to be judged"
    )


def _read(path: Path) -> answers.Answers:
    data = path.read_bytes()
    match path.suffix.lower():
        case ".json":
            return answers.read_json(data, str(path))
        case ".csv":
            return answers.read_csv(data, str(path), datetime.fromtimestamp(path.stat().st_mtime, UTC))
        case other:
            raise SheetUnfit(f"{path}: {other or 'no suffix'}: the page saves .json; a table is .csv")


def _known_as(review: ReviewFolder, reviewer: str) -> str:
    """Return the reviewer's name as it is stored, new or not."""
    with_reviewers(review.reviewers_file, [reviewer])
    return reviewer_name(reviewer)


def _line(text: str) -> None:
    Console().print(Text(text), soft_wrap=True)
