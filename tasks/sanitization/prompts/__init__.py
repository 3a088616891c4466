"""The prompts of sanitization, one file each; ``PROMPT_SHAS`` goes into every row."""

from pathlib import Path

from tasks.prompts import Prompt

_FOLDER = Path(__file__).parent

WEIGHTS = Prompt.load(_FOLDER / "weights.jinja")
RELEVANT = Prompt.load(_FOLDER / "relevant.jinja")
SPANS = Prompt.load(_FOLDER / "spans.jinja")
ABSTRACTION = Prompt.load(_FOLDER / "abstraction.jinja")
APPLY = Prompt.load(_FOLDER / "apply.jinja")
REPLACE = Prompt.load(_FOLDER / "replace.jinja")
REQUEST = Prompt.load(_FOLDER / "request.jinja")

PROMPT_SHAS = {name.lower(): value.sha for name, value in sorted(globals().items()) if isinstance(value, Prompt)}
