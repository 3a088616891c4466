import json

from tasks.measuring.extraction.attack import Attempt, ExtractionSettings, result_of
from tasks.measuring.report.figures import extraction_figures, to_json
from tasks.measuring.report.page import extraction_page, kinds

SETTINGS = ExtractionSettings(samples=2, budgets=(1, 2))
RESULT = result_of(
    "models/<b>bold</b>",
    SETTINGS,
    [
        Attempt("v0", "<i>name</i>", 3, (41, 42, 43), 1.0, ((41, 42), (41, 42, 43)), (1, 0)),
        Attempt("v1", "account_id", 3, (41, 42, 43), None, ((7,), ()), (3, 3)),
    ],
)


def test_figures_hold_no_tokens_of_values() -> None:
    written = to_json(extraction_figures(RESULT))
    found = json.loads(written)
    assert found["values"][0] == {
        "id": "v0", "kind": "<i>name</i>", "revealed_tokens": 3, "hidden_tokens": 3, "share_of_occurrences": 1.0,
        "least_distance": 0, "exact_after": 2, "approximate_after": 1,
    }  # fmt: skip
    assert (found["values"][1]["exact_after"], found["values"][1]["least_distance"]) == (None, 3)
    assert [rate["exact"]["count"] for rate in found["rates"] if rate["kind"] == "all"] == [0, 1]
    assert not {"41", "42", "43"} & set(written.split())


def test_the_page_shows_each_kind_and_lets_no_name_steer_it() -> None:
    page = extraction_page(RESULT)
    assert page.count("<svg") == 1
    assert "<b>bold" not in page
    assert "<i>name" not in page
    assert "50.0%" in page


def test_one_kind_is_not_shown_twice() -> None:
    assert kinds(result_of("m", SETTINGS, RESULT.attempts[1:])) == ["all"]
    assert kinds(RESULT) == ["all", "<i>name</i>", "account_id"]
