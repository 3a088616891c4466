"""Every link of the documentation leads somewhere, and every page is reached."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

from tests.docs.pages import PAGES, ROOT, anchors, prose

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")


def links(page: Path) -> list[str]:
    return _LINK.findall(prose(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_a_file_and_to_a_heading_of_it(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = page if not name else (page.parent / name).resolve()
        assert target.exists(), f"{page.name}: {link} leads nowhere"
        if page.parent == ROOT / "docs":
            assert target.is_relative_to(ROOT / "docs"), f"{page.name}: {link} is not part of the docs site"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{page.name}: no heading for {link}"


def test_every_page_is_in_the_sites_navigation_once() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    def files(node: object) -> list[str]:
        if isinstance(node, str):
            return [node]
        if isinstance(node, dict):
            return [file for each in node.values() for file in files(each)]
        assert isinstance(node, list)
        return [file for each in node for file in files(each)]

    there = sorted(str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md"))
    assert sorted(files(site["nav"])) == there


def test_a_page_loads_nothing_from_elsewhere() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert site["theme"]["font"] is False
    assert not {"extra_javascript", "extra_css"} & site.keys()
    for page in PAGES:
        assert not re.search(r"!\[[^\]]*\]\(https?:", page.read_text(encoding="utf-8")), page
        assert not re.search(r"<(?:script|iframe|img)\b", prose(page.read_text(encoding="utf-8"))), page
