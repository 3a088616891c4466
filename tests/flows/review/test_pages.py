"""The sheet as one file."""

import base64
import hashlib
import json
import re

from flows.review.pages import offline_page
from tasks.reviewing.sheet import Text, sheet_of
from tests.tasks.reviewing.small import ids, said, small

SHEET, _ = small()


def embedded(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="sheet">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    sheet: dict[str, object] = json.loads(found[1])
    return sheet


def test_the_file_holds_the_sheet_in_the_reviewers_order_with_what_was_said() -> None:
    sheet = embedded(offline_page(SHEET, "ann", said({"r1": "yn"})))
    entries = sheet["entries"]
    assert isinstance(entries, list)
    assert [entry["id"] for entry in entries] == [item.id for item in SHEET.order_of("ann")]
    by_id = {entry["id"]: entry for entry in entries}
    assert (by_id[ids()["r1"]]["natural"], by_id[ids()["r1"]]["coherent"]) == (True, False)
    assert by_id[ids()["r2"]]["natural"] is None
    assert (sheet["reviewer"], sheet["sheet"]) == ("ann", SHEET.digest)


def test_no_text_ends_the_element_it_is_in() -> None:
    texts = [Text("human", "h", "1", "</script><script>alert(1)</script><!-- \u2028 &amp;", 2)]
    sheet, _ = sheet_of(texts, seed=0)
    page = offline_page(sheet, "ann", {})
    assert "alert(1)</script>" not in page
    entries = embedded(page)["entries"]
    assert isinstance(entries, list)
    assert entries[0]["text"] == "</script><script>alert(1)</script><!-- ⟨U+2028⟩ &amp;"


def test_a_reviewers_name_is_text() -> None:
    assert "<title>a&lt;b" in offline_page(SHEET, "a<b", {})


def test_the_file_asks_for_nothing_and_runs_only_scripts_that_its_policy_names() -> None:
    page = offline_page(SHEET, "ann", {})
    assert not re.search(r'(src|href)="(?!#)', page)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = set(re.findall(r"sha256-([^&;' ]+)", policy[1].replace("&#39;", "'")))
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert {base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts} == allowed
    assert len(scripts) == 3
    assert "'unsafe-inline'" not in policy[1].partition("style-src")[0]


def test_the_file_tells_nothing_of_sources() -> None:
    page = offline_page(SHEET, "ann", {}).lower()
    for hidden in ("synthetic", "human", "data/letters", "mail.jsonl", "seed"):
        assert hidden not in page
