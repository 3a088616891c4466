"""Diversity-preserving refinement (PV section 2.1.3): take a revision that is better *and* widens the pool.

S(x') = alpha * LLMScore(x_t, x') + beta * (Vendi(P + x') - Vendi(P + x_t)),    x_{t+1} = x' if S > tau else x_t
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import orjson

from tasks.ask import Asker, StepFailed
from tasks.diversity.vendi import Pool
from tasks.events import event_key
from tasks.synthesis.config import RefinementConfig, Temperatures
from tasks.synthesis.prompts import JUDGE, REVISE
from tasks.synthesis.seeds import call_seed, rng
from tasks.synthesis.verdict import VERDICT_SCHEMA, Verdict, parse_verdict

F32 = npt.NDArray[np.float32]
VERDICT_TOKENS = 32


class DiversityPool(Protocol):
    """The accepted records of the whole run, as much of them as one record needs."""

    async def prepared(self, size: int, seed: int) -> Pool:
        """Return a pool of up to ``size`` accepted records drawn at random, ready for Vendi differences."""
        ...

    async def add(self, vector: F32) -> None:
        """Offer the embedding of a record that was accepted for good."""
        ...


@dataclass(frozen=True, slots=True)
class Refinement:
    """What became of one offered revision; the columns of ``tasks.records.REFINEMENT``."""

    step: int
    verdict: str
    candidate_shown_first: bool | None = None
    pool_size: int | None = None
    vendi_current: float | None = None
    vendi_candidate: float | None = None
    score: float | None = None
    accepted: bool = False


@dataclass
class Refiner:
    """Refines the drafts of one record against one draw of the pool, which is made when first needed."""

    ask: Asker
    pool: DiversityPool
    embed: Callable[[str], Awaitable[F32]]
    embedder_model: str
    config: RefinementConfig
    temperatures: Temperatures
    _prepared: Pool | None = None

    async def refine(
        self, draft: str, facts: Mapping[str, Any], *, max_tokens: int, check: Callable[[str], str]
    ) -> tuple[str, list[Refinement]]:
        """Offer ``config.steps`` revisions, one after the other.

        Args:
            draft: the text to begin with.
            facts: what the revision prompt says of the record.
            max_tokens: the longest revision.
            check: raises ``ReplyUnusable`` for a revision that must not be offered.

        Returns:
            The final text and one entry a step.
        """
        text, trace = draft, []
        for step in range(1, self.config.steps + 1):
            candidate = await self._revision(step, text, facts, max_tokens, check)
            if candidate is None:
                trace.append(Refinement(step, "no_candidate"))
                continue
            outcome = await self._compare(step, text, candidate)
            text = candidate if outcome.accepted else text
            trace.append(outcome)
        return text, trace

    async def _revision(
        self, step: int, text: str, facts: Mapping[str, Any], max_tokens: int, check: Callable[[str], str]
    ) -> str | None:
        try:
            return await self.ask.text(
                f"revise-{step}",
                REVISE.render(**facts, text=text),
                temperature=self.temperatures.revision,
                max_tokens=max_tokens,
                check=check,
            )
        except StepFailed:  # not an error of the record: its draft stands, and the trace says so
            return None

    async def _compare(self, step: int, current: str, candidate: str) -> Refinement:
        candidate_first = bool(rng(self.ask.run_seed, self.ask.record_id, f"order-{step}").integers(2))
        verdict = await self._verdict(step, current, candidate, candidate_first)
        preferred = float(verdict is Verdict.CANDIDATE)
        outcome = Refinement(step, verdict.value, candidate_first)
        if not self.config.diversity:
            return replace(outcome, score=preferred, accepted=preferred == 1.0)
        pool_size, vendi_current, vendi_candidate = await self._vendi(step, current, candidate)
        score = self.config.alpha * preferred + self.config.beta * (vendi_candidate - vendi_current)
        return replace(
            outcome,
            pool_size=pool_size,
            vendi_current=vendi_current,
            vendi_candidate=vendi_candidate,
            score=score,
            accepted=score > self.config.tau,
        )

    async def _verdict(self, step: int, current: str, candidate: str, candidate_first: bool) -> Verdict:
        first, second = (candidate, current) if candidate_first else (current, candidate)
        reply = await self.ask.once(
            f"judge-{step}",
            JUDGE.render(first=first, second=second),
            VERDICT_SCHEMA,
            temperature=self.temperatures.judge,
            max_tokens=VERDICT_TOKENS,
        )
        return parse_verdict(reply, candidate_first=candidate_first)

    async def _vendi(self, step: int, current: str, candidate: str) -> tuple[int, float, float]:
        """Return (pool size, Vendi with the current draft, with the candidate); an event of the chain like a call."""

        async def produce() -> bytes:
            pool = await self._pool()
            vectors = np.stack([await self.embed(current), await self.embed(candidate)])
            return orjson.dumps([pool.size, *map(float, pool.score_with_many(vectors))])

        key = event_key(
            self.ask.record_id, f"vendi-{step}", self.embedder_model, self.config.pool_size, current, candidate
        )
        size, vendi_current, vendi_candidate = orjson.loads(await self.ask.log.once(key, produce))
        return size, vendi_current, vendi_candidate

    async def _pool(self) -> Pool:
        if self._prepared is None:
            seed = call_seed(self.ask.run_seed, self.ask.record_id, "pool")
            self._prepared = await self.pool.prepared(self.config.pool_size, seed)
        return self._prepared
