"""The prompts of evaluation, one file each; ``PROMPT_SHAS`` goes into every row."""

from pathlib import Path

from tasks.prompts import Prompt

_FOLDER = Path(__file__).parent

GUESS = Prompt.load(_FOLDER / "guess.jinja")
CLOSER = Prompt.load(_FOLDER / "closer.jinja")
PRESENT = Prompt.load(_FOLDER / "present.jinja")
SANITIZE = Prompt.load(_FOLDER / "sanitize.jinja")

PROMPT_SHAS = {name.lower(): value.sha for name, value in sorted(globals().items()) if isinstance(value, Prompt)}

NEARER_TEXT = Prompt.load(_FOLDER / "nearer_text.jinja")  # of NaP² alone: a change there makes nothing else stale
