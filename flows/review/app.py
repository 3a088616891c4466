"""The sheet as a web application: each reviewer sees one text at a time, in an order of their own.

Nothing that it sends knows the key. A reviewer is told by the token in the link, which stands after ``#``: browsers
send that part to nobody, the page's script shows it in a header of each request.
"""

from datetime import UTC, datetime

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from flows.review.log import JudgementLog
from flows.review.pages import TEMPLATES
from flows.review.reviewers import Reviewers
from infra.service.body_limit import BodyLimit
from infra.web.access import Access
from infra.web.app import create_web_app
from infra.web.guard import READ_ONLY
from tasks.report.marks import visible
from tasks.reviewing.judgements import MOST_COMMENT, Judgement, latest
from tasks.reviewing.sheet import Sheet

METHODS = READ_ONLY | {"PUT"}
_BODY_BYTES = 64 * 1024  # of a judgement: its comment, six bytes a character at most, and room
_FULL = 507


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Wire):
    """What a reviewer says of a text."""

    natural: bool | None
    coherent: bool | None
    comment: str = Field(max_length=MOST_COMMENT)


class Entry(Said):
    """A text by its id, and what the reviewer has said of it."""

    id: str


class SheetOf(_Wire):
    """A reviewer's whole sheet but the texts, in that reviewer's order."""

    reviewer: str
    sheet: str
    entries: tuple[Entry, ...]


class Shown(_Wire):
    """One text."""

    id: str
    text: str


class Saved(_Wire):
    """A judgement is on the disk."""

    at: AwareDatetime


def create_app(sheet: Sheet, reviewers: Reviewers, log: JudgementLog, access: Access) -> FastAPI:
    """Return the application.

    Args:
        sheet: what is judged.
        reviewers: by whom.
        log: where judgements go.
        access: who may open the page at all.
    """
    app = create_web_app("Blind review", access, TEMPLATES, static_of="flows.review", methods=METHODS)
    app.add_middleware(BodyLimit, body_bytes=_BODY_BYTES)
    texts = {item.id: visible(item.text) for item in sheet.items}
    page = TEMPLATES.get_template("review.html.jinja").render()

    def reviewer(request: Request) -> str:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        name = reviewers.who_shows(token) if scheme == "Bearer" else None
        if name is None:
            raise HTTPException(401, "Open the whole link that you were given.")
        return name

    shown = Depends(reviewer)

    @app.get("/", response_class=HTMLResponse)
    async def sheet_page() -> str:
        """The page; whose it is its script finds out."""
        return page

    @app.get("/api/sheet")
    def sheet_of(name: str = shown) -> SheetOf:
        """What there is to judge and what has been said."""
        said = latest(log.read(name))
        return SheetOf(
            reviewer=name,
            sheet=sheet.digest,
            entries=tuple(_entry(item.id, said.get(item.id)) for item in sheet.order_of(name)),
        )

    @app.get("/api/texts/{item}")
    async def text(item: str, _: str = shown) -> Shown:
        """One text."""
        return Shown(id=item, text=_known(item))

    @app.put("/api/texts/{item}")
    def save(item: str, said: Said, name: str = shown) -> Saved:
        """Record a judgement; answered when it is on the disk."""
        _known(item)
        judgement = Judgement(item=item, at=datetime.now(UTC), **said.model_dump())
        try:
            log.append(name, [judgement])
        except OSError as error:
            raise HTTPException(_FULL, "The judgement could not be written: is the disk full?") from error
        return Saved(at=judgement.at)

    def _known(item: str) -> str:
        if item not in texts:
            raise HTTPException(404, "There is no such text on the sheet.")
        return texts[item]

    return app


def _entry(item: str, said: Judgement | None) -> Entry:
    if said is None:
        return Entry(id=item, natural=None, coherent=None, comment="")
    return Entry(id=item, natural=said.natural, coherent=said.coherent, comment=said.comment)
