"""The prompt of the real-person check."""

from pathlib import Path

from tasks.prompts import Prompt

IDENTITY = Prompt.load(Path(__file__).parent / "identity.jinja")
