"""The browser in a real one: keys, marks, themes, and that nothing is refused, broken or wider than the window."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from flows.browse.app import create_browser
from infra.web.access import Access
from tests.flows.browse.chromium import BROWSER, MISSING, Tab, chromium
from tests.flows.browse.tiny import tiny_root

pytestmark = pytest.mark.skipif(BROWSER is None, reason=MISSING)
LIST = "/d/letters/rows/records"
PAGES = (
    *("/", "/d/letters", "/d/letters/shards/records", LIST, f"{LIST}?q=letter", f"{LIST}/1", "/d/letters/charts"),
    *("/d/letters/rows/rejects/2", "/d/letters/rows/triplets/1", "/d/letters/rows/evaluations.by-m/1"),
    *("/d/texts/rows/scores/0", "/d/letters/rows/splits/1", "/d/none"),
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    app = create_browser(tiny_root(tmp_path_factory.mktemp("root")), Access(None), tmp_path_factory.mktemp("cache"))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def path(tab: Tab) -> str:
    return str(tab.run("location.pathname + location.search"))


def test_no_page_breaks_a_rule_or_the_window(tab: Tab, address: str) -> None:
    for page in PAGES:
        for width in (1280, 360):
            tab.look(width=width, height=800, dark=width == 360)
            tab.go(address + page)
            assert tab.run("document.documentElement.scrollWidth <= innerWidth"), (page, width)
            assert tab.run("typeof window.alerted") == "undefined"
    refused = [said for said in tab.said if "/d/none" not in said]  # that page is a 404
    assert refused == []


def test_text_has_contrast_in_both_themes(tab: Tab, address: str) -> None:
    contrast = """(() => {
      const parse = (text) => {
        const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].map((value) => value / 255);
      };
      const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
      const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
      const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
      const ground = (element) => {
        if (!element) return [1, 1, 1];
        return over(parse(getComputedStyle(element).backgroundColor), ground(element.parentElement));
      };
      const poor = [];
      for (const element of document.querySelectorAll("main *, header *")) {
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!own || !element.checkVisibility() || element.closest("[aria-disabled], svg, .visually-hidden")) continue;
        const below = ground(element), above = over(parse(getComputedStyle(element).color), below);
        const [one, other] = [light(above), light(below)];
        const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (ratio < 4.5) poor.push([element.tagName, element.className, element.textContent.slice(0, 20), ratio]);
      }
      return poor;
    })()"""
    for dark in (False, True):
        tab.look(width=1280, height=800, dark=dark)
        for page in PAGES[:-1]:
            tab.go(address + page)
            assert tab.run(contrast) == [], (page, dark)


def test_keys_walk_a_list_open_a_row_and_go_on_from_there(tab: Tab, address: str) -> None:
    tab.go(address + LIST)
    for _ in range(2):
        tab.press("j")
    with tab.loading():
        tab.press("Enter")
    assert path(tab) == f"{LIST}/1?at=1"
    with tab.loading():
        tab.press("j")
    assert path(tab) == f"{LIST}/3?at=2"
    with tab.loading():
        tab.press("ArrowLeft")
    with tab.loading():
        tab.press("u")
    assert path(tab) == LIST


def test_slash_goes_to_the_search_and_keys_typed_there_are_text(tab: Tab, address: str) -> None:
    tab.go(address + LIST)
    tab.press("/")
    assert tab.run("document.activeElement.name") == "q"
    tab.type("jkt? blood")
    assert tab.run("document.activeElement.value") == "jkt? blood"
    tab.press("Escape")
    assert tab.run("document.activeElement.tagName") == "BODY"


def test_a_question_mark_shows_the_keys_and_takes_them_away(tab: Tab, address: str) -> None:
    tab.go(address + LIST)
    tab.press("?")
    assert tab.run("document.getElementById('keys').open")
    tab.press("?")
    assert not tab.run("document.getElementById('keys').open")


def test_the_theme_follows_the_system_until_it_is_chosen_and_then_stays(tab: Tab, address: str) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    tab.look(width=1280, height=800, dark=False)
    tab.go(address + "/")
    light = tab.run(ground)
    tab.look(width=1280, height=800, dark=True)
    dark = tab.run(ground)
    assert light != dark
    tab.press("t")
    assert tab.run(ground) == light
    tab.go(address + "/d/letters")
    assert tab.run(ground) == light
    tab.run("localStorage.removeItem('theme')")


def test_a_mark_that_has_the_focus_tells_its_attribute_and_a_group_lights_its_marks(tab: Tab, address: str) -> None:
    tab.look(width=1280, height=800, dark=False)
    tab.go(f"{address}{LIST}/1")
    tab.run("document.querySelector('.marks mark').focus()")
    told = tab.run("getComputedStyle(document.querySelector('.marks mark'), '::before').content")
    assert told.startswith('"key<script>')
    tab.run("document.querySelector('[data-lights=\"1\"]').focus()")
    assert tab.run("[...document.querySelectorAll('.marks mark')].map((mark) => mark.classList.contains('on'))") == [
        True,
        False,
    ]


def test_a_list_of_data_sets_is_a_table_for_a_screen_reader(tab: Tab, address: str, tmp_path: Path) -> None:
    tab.go(address + "/")
    assert tab.run("document.querySelectorAll('main table th[scope=col]').length") == 7
    assert tab.run("document.documentElement.lang") == "en"
    tab.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
