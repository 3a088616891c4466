"""The chain's prompts, one file each; ``PROMPT_SHAS`` goes into every row."""

from pathlib import Path

from tasks.prompts import Prompt

_FOLDER = Path(__file__).parent

PROFILE = Prompt.load(_FOLDER / "profile.jinja")
DETAILS = Prompt.load(_FOLDER / "details.jinja")
RECORD_TYPES = Prompt.load(_FOLDER / "record_types.jinja")
CONTEXTS = Prompt.load(_FOLDER / "contexts.jinja")
FORMATS = Prompt.load(_FOLDER / "formats.jinja")
DRAFT = Prompt.load(_FOLDER / "draft.jinja")
REVISE = Prompt.load(_FOLDER / "revise.jinja")
JUDGE = Prompt.load(_FOLDER / "judge.jinja")
ATTRIBUTES = Prompt.load(_FOLDER / "attributes.jinja")
GROUPS = Prompt.load(_FOLDER / "groups.jinja")
LABEL = Prompt.load(_FOLDER / "label.jinja")

PROMPT_SHAS = {name.lower(): value.sha for name, value in sorted(globals().items()) if isinstance(value, Prompt)}
