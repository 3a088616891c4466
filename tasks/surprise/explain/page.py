"""An explained text as one HTML file to share: no script, no request, everything escaped."""

from collections.abc import Mapping

import jinja2

from tasks.report.formats import fixed
from tasks.report.marks import visible
from tasks.surprise.explain.terminal import figures
from tasks.surprise.explain.view import STEPS, Explained, Piece


def page(explained: Explained, title: str, facts: Mapping[str, str]) -> str:
    """Write the page.

    Args:
        explained: the text.
        title: the file's name.
        facts: name and value of what to say of it: model, policy.
    """
    return _TEMPLATES.get_template("explain.html.jinja").render(
        explained=explained,
        title=title,
        facts=facts,
        figures=figures(explained),
        steps=STEPS,
        says=said_of,
        labelled=any(piece.labels for piece in explained.pieces),
        propagated=any(piece.propagated for piece in explained.pieces),
    )


def said_of(piece: Piece, score_name: str) -> str:
    """What hovering over a piece shows."""
    if not piece.scores:
        return "not scored"
    scores = " + ".join("none" if score is None else f"{score:.2f}" for score in piece.scores)
    said = [f"{score_name} {scores} nats"]
    if piece.windows:
        said.append(f"window {fixed(piece.window, 2)}")
        said.append(f"{piece.selected} of {piece.windows} windows selected")
    if piece.masked:
        said.append("masked as a repeat" if piece.propagated else "masked")
    if piece.labels:
        said.append(f"labelled {', '.join(piece.labels)}")
    return " · ".join(said)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tasks.surprise.explain"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible, "fixed": fixed}
    return environment


_TEMPLATES = _environment()
