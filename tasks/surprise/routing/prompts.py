"""The prompts of routing, loaded once."""

from collections.abc import Mapping
from pathlib import Path

from tasks.prompts import Prompt

_FOLDER = Path(__file__).parent / "prompts"
REWRITE_SENTENCE = Prompt.load(_FOLDER / "rewrite_sentence.jinja")
REWRITE_DOCUMENT = Prompt.load(_FOLDER / "rewrite_document.jinja")
PROPOSITIONS = Prompt.load(_FOLDER / "propositions.jinja")
KEPT = Prompt.load(_FOLDER / "kept.jinja")

PROMPT_SHAS: Mapping[str, str] = {
    "rewrite_sentence": REWRITE_SENTENCE.sha,
    "rewrite_document": REWRITE_DOCUMENT.sha,
    "propositions": PROPOSITIONS.sha,
    "kept": KEPT.sha,
}
