"""What every step asks of a model for one fixed person. Renew the files after a change of a prompt, and read the diff:

python -m tests.tasks.synthesis.golden_prompts
"""

import asyncio
from pathlib import Path
from random import Random

import orjson

from infra.engines.simulator.prompt import Brief
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.schema import walker_of
from infra.llm.fake import FakeBackend
from infra.llm.types import Request
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tasks.synthesis.outcome import Record
from tests.tasks.synthesis.script import LETTER, chain_of, pool_of

FOLDER = Path(__file__).parent / "golden"
RENEW = "python -m tests.tasks.synthesis.golden_prompts"
CONFIG = SynthesisConfig(record_types=2, contexts=2, formats=2, refinement=RefinementConfig(steps=1))

_ITEMS = {
    "record_types": [f"A letter from Tomas Lima to {name} about the call of the clinic" for name in ("Ana", "Rui")],
    "contexts": [
        f"On 3 May 2019 the clinic in Porto called {name} at home. Tomas Lima writes it down for Ana, his sister."
        for name in ("Tomas", "Marta")
    ],
    "formats": [f"It begins with a {first}, tells the facts in order and ends calmly." for first in ("date", "name")],
}
_FACTS = [{"key": "clinic_city", "value": "Porto"}, {"key": "brace_price", "value": "240 euros"}]
_GROUPS = [{"name": "The knee", "keys": ["clinic_city", "brace_price"]}]
_REPLIES: dict[str, object] = {step: {"items": items} for step, items in _ITEMS.items()} | {
    "judge-1": {"verdict": "1"},
    "attributes": {"attributes": _FACTS},
    "groups": {"groups": _GROUPS},
}


def rendered() -> dict[str, str]:
    """Return the conversation of each step, by the name of its prompt, as the chain of one record opens it."""
    backend = FakeBackend(_answer)
    outcome = asyncio.run(chain_of(backend, config=CONFIG, pool=pool_of([])).run(0))
    assert isinstance(outcome, Record), outcome
    return {request.tags["step"].partition("-")[0]: _written(request) for request in backend.requests}


def _answer(request: Request) -> str:
    """Answer by the step and its schema alone, so that a change of one prompt shows in one file."""
    step = request.tags["step"]
    if request.schema is None:
        return LETTER if step == "draft" else LETTER.replace("240", "260")
    if step in _REPLIES:
        return orjson.dumps(_REPLIES[step]).decode()
    return orjson.dumps(walker_of(dict(request.schema))(Scene(Random(1), Brief(), "English"))).decode()


def _written(request: Request) -> str:
    return "".join(f"=== {message.role} ===\n{message.content}\n" for message in request.messages)


if __name__ == "__main__":
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for name, text in rendered().items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
