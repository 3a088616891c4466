"""A change of a prompt shows in review, as a change of what a model is asked."""

import pytest

from tasks.sanitization.prompts import PROMPT_SHAS
from tests.tasks.sanitization.golden_prompts import FOLDER, RENEW, rendered


@pytest.fixture(scope="module")
def asked() -> dict[str, str]:
    return rendered()


@pytest.mark.parametrize("name", sorted(PROMPT_SHAS))
def test_what_is_asked_is_what_was_reviewed(asked: dict[str, str], name: str) -> None:
    golden = FOLDER / f"{name}.txt"
    assert golden.exists(), f"a new prompt: {RENEW}"
    assert asked[name] == golden.read_text(encoding="utf-8"), f"{name}.jinja asks otherwise; if that is meant: {RENEW}"


def test_every_golden_file_belongs_to_a_prompt() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(PROMPT_SHAS)
