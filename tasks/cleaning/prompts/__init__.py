"""What a request says beyond the caller's own words. The question itself is the one that cleaners are trained on."""

from pathlib import Path

from tasks.evaluation.prompts import SANITIZE
from tasks.prompts import Prompt

INSTRUCTION = Prompt.load(Path(__file__).parent / "instruction.jinja")

PROMPT_SHAS = {"instruction": INSTRUCTION.sha, "sanitize": SANITIZE.sha}
