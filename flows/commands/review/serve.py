"""``privasis review serve``: the sheet as a web page for several reviewers."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.commands.review.unfit import as_usage
from flows.config import ConfigError
from flows.review.app import create_app
from flows.review.folder import ReviewFolder
from flows.review.reviewers import Reviewers, with_reviewers
from infra.service.access import is_loopback
from infra.web.access import Access
from infra.web.serve import serve_web
from tasks.reviewing.judgements import Judgement


def run(folder: Path, names: Sequence[str], host: str, port: int) -> None:
    """Serve until a signal comes.

    Raises:
        ConfigError: there is no review, or nobody who reviews.
        OSError: the address is taken, or not ours.
    """
    review = ReviewFolder(folder)
    with as_usage():
        sheet = review.sheet()
        reviewers = with_reviewers(review.reviewers_file, names)
        said = review.judgements(reviewers.names)
    if not reviewers.names:
        raise ConfigError(f"{folder}: nobody reviews yet: name everybody with --reviewer NAME")
    access = Access(None if is_loopback(host) else reviewers.door)
    app = create_app(sheet, reviewers, review.log, access)
    _tell_links(reviewers, said, len(sheet.items), access.address(host, port))
    serve_web(app, access, host, port, doing="Reviewing", open_browser=False)


def _tell_links(reviewers: Reviewers, said: Mapping[str, Mapping[str, Judgement]], texts: int, address: str) -> None:
    sys.stderr.write("Give each reviewer the whole link:\n")
    width = max(map(len, reviewers.names))
    for name in reviewers.names:
        judged = sum(each.complete for each in said[name].values())
        sys.stderr.write(f"  {name:<{width}}  {address}#{reviewers.tokens[name]}  {judged} of {texts} judged\n")
    if "//0.0.0.0:" in address or "//[::]:" in address:
        sys.stderr.write("From other machines this one's name or address stands in the place of 0.0.0.0 or [::].\n")
