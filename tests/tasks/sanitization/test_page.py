"""What a person sees of triplets, on a page and in a terminal: all of it, marked by target, and nothing obeyed."""

import io
import re
from html.parser import HTMLParser
from typing import Any

from rich.console import Console

from infra.llm.fake import FakeBackend
from tasks.sanitization.page import triplets_page
from tasks.sanitization.terminal import render_triplet
from tasks.sanitization.view import view
from tests.tasks.sanitization.records import FACTS, source
from tests.tasks.sanitization.script import honest
from tests.tasks.sanitization.test_chain import chain_of, triplet_of

SPITEFUL = "<script>alert(1)</script> [bold]&amp;[/bold] \x1b[31m\u202e"


async def row_of(**changed: Any) -> dict[str, Any]:
    record = source(facts={"name": "Ana Lima", "visit_date": "3 May 2019", "medicine": "ibuprofen"}, groups={})
    return (await triplet_of(chain_of(FakeBackend(honest)), record)).row() | changed


async def leaking() -> dict[str, Any]:
    row = await row_of()
    value = row["targets"][0]["attributes"][0]["value"]
    return row | {"verified": False, "leaks": [{"target": 0, "key": "k", "value": value, "exact": True}]}


class Reader(HTMLParser):
    """Collects what stands in the cells of a page, and the tags it has."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sides: dict[str, str] = {}
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "div":
            self._open.append(dict(attrs).get("data-side") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "div":
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and (side := self._open[-1]):
            self.sides[side] = self.sides.get(side, "") + data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


async def test_a_page_shows_both_texts_whole_and_every_target() -> None:
    row = await row_of()
    page = triplets_page("tiny", [row])
    sides = read(page).sides
    assert re.sub(r"\s", "", sides["Record"]) == re.sub(r"\s", "", row["text"])
    assert re.sub(r"[\s‸]", "", sides["Clean text"]) == re.sub(r"\s", "", row["sanitized"])
    for target in row["targets"]:
        assert all(each["value"] in page for each in target["attributes"])
    assert row["instruction"] in page
    assert "no value left" in page


async def test_a_page_loads_and_runs_nothing_whatever_a_model_wrote() -> None:
    page = triplets_page(SPITEFUL, [await row_of(instruction=SPITEFUL, model=SPITEFUL)])
    tags = set(read(page).tags)
    assert tags.isdisjoint({"script", "img", "link", "iframe", "object"})
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert not re.search(r"https?://|url\(", page)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "prefers-color-scheme: dark" in page


async def test_a_value_that_is_left_is_told() -> None:
    row = await leaking()
    page = triplets_page("tiny", [row])
    assert page.count("still stands") == 1
    assert "a value is left" in page
    assert view(row).targets[0].leaks == (row["leaks"][0]["value"],)
    assert "still stands" in printed(row)


def printed(row: dict[str, Any]) -> str:
    console = Console(width=120, file=io.StringIO(), record=True, force_terminal=True)
    console.print(render_triplet(row))
    return console.export_text()


async def test_a_terminal_shows_the_texts_side_by_side_with_numbered_targets() -> None:
    row = await row_of()
    shown = printed(row)
    lines = [line for line in shown.splitlines() if "Regards," in line]
    assert [line.count("Regards,") for line in lines] == [2]
    for number, target in enumerate(row["targets"], 1):
        assert f"{number} {target['name']}" in shown
        for each in target["attributes"]:
            assert each["value"] in shown
    assert re.search(r"\[[^\]]+\][¹²³]", shown)


async def test_markup_and_control_codes_are_shown_not_obeyed() -> None:
    shown = printed(await row_of(instruction=SPITEFUL))
    assert "[bold]&amp;[/bold] ⟨U+001B⟩[31m⟨U+202E⟩" in shown
    assert FACTS["name"] in shown
