"""The page of the sheet: served, or whole in one file that needs no server."""

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files

from markupsafe import Markup

from infra.web.templating import web_templates
from tasks.report.marks import visible
from tasks.reviewing.judgements import MOST_COMMENT, Judgement
from tasks.reviewing.sheet import Sheet

TEMPLATES = web_templates("flows.review", globals_={"most_comment": MOST_COMMENT, "app": "Blind review"})

_STYLES = (("infra.web", "web.css"), ("flows.review", "review.css"))
_SCRIPTS = (("infra.web", "theme.js"), ("infra.web", "web.js"), ("flows.review", "review.js"))


def offline_page(sheet: Sheet, reviewer: str, said: Mapping[str, Judgement]) -> str:
    """Write the sheet of ``reviewer`` as one HTML file, with what is recorded already.

    It loads nothing, sends nothing, and runs no script but ours: the policy in its head names them by their hashes.
    """
    scripts = [_own(package, name) for package, name in _SCRIPTS]
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in scripts
    )
    entries = [
        {
            "id": item.id,
            "text": visible(item.text),
            "natural": judgement.natural if (judgement := said.get(item.id)) else None,
            "coherent": judgement.coherent if judgement else None,
            "comment": judgement.comment if judgement else "",
        }
        for item in sheet.order_of(reviewer)
    ]
    return TEMPLATES.get_template("offline.html.jinja").render(
        reviewer=reviewer,
        policy=f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'",
        styles=[Markup(_own(package, name)) for package, name in _STYLES],
        scripts=[Markup(each) for each in scripts],
        sheet_data=_embedded({"reviewer": reviewer, "sheet": sheet.digest, "entries": entries}),
    )


def _own(package: str, name: str) -> str:
    """Return a file of our own that goes into the page as it is."""
    content = files(package).joinpath("static", name).read_text(encoding="utf-8")
    if "</" in content:
        raise ValueError(f"{package}/static/{name}: holds '</', which would end its element: write it otherwise")
    return content


def _embedded(value: object) -> Markup:
    """Write JSON so that no text in it can end the element it stands in."""
    written = json.dumps(value, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Markup(written)
