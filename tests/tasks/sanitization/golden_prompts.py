"""What every step asks of a model for one fixed record. Renew the files after a change of a prompt, and read the diff:

python -m tests.tasks.sanitization.golden_prompts
"""

import asyncio
from pathlib import Path

from infra.llm.fake import FakeBackend
from infra.llm.types import Request
from tasks.events import MemoryLog
from tasks.sanitization.chain import SanitizationChain
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.outcome import Triplet
from tasks.synthesis.chain import MixedModel
from tests.tasks.sanitization.records import source
from tests.tasks.sanitization.script import honest, to_json

FOLDER = Path(__file__).parent / "golden"
RENEW = "python -m tests.tasks.sanitization.golden_prompts"
CONFIG = SanitizationConfig(chunk_characters=128, omit_members_share=0)
RECORD = source(record_id="r-00000007-00000001")  # targets of both labels, a group with its members, something to keep


def rendered() -> dict[str, str]:
    """Return the first conversation of each kind of step, by the name of its prompt."""
    backend = FakeBackend(_forgetful)
    models = [MixedModel(backend, 1.0, lambda usage: 0.0)]
    outcome = asyncio.run(SanitizationChain(7, CONFIG, models, MemoryLog()).run(RECORD))
    assert isinstance(outcome, Triplet), outcome
    asked: dict[str, str] = {}
    for request in backend.requests:
        asked.setdefault(request.tags["step"].partition("-")[0], _written(request))
    return asked


def _forgetful(request: Request) -> str:
    """Answer well, but lose the text of the first target's chunks, so that words alone are asked for."""
    return to_json({"edited": "someone"}) if request.tags["step"].startswith("apply-0-") else honest(request)


def _written(request: Request) -> str:
    return "".join(f"=== {message.role} ===\n{message.content}\n" for message in request.messages)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for name, text in rendered().items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
