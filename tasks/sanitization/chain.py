"""The whole chain of one triplet (PV Algorithm 1): from a record to its sanitized text and the request for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from infra.llm.types import Reply, Request, Usage
from tasks.ask import Asker, StepFailed
from tasks.events import EventLog
from tasks.sanitization.chunks import decompose
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.instruction import write_request
from tasks.sanitization.outcome import Retained, Triplet
from tasks.sanitization.prompts import PROMPT_SHAS
from tasks.sanitization.retention import choose_retained, overlap
from tasks.sanitization.rewrite import Work, applied, hide
from tasks.sanitization.source import Source
from tasks.sanitization.targets import Target, draw_targets, weigh
from tasks.sanitization.verify import verify
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.outcome import Identity, Reject, Spent
from tasks.synthesis.seeds import rng


@dataclass(frozen=True)
class SanitizationChain:
    """Sanitizes the records of one run; holds what they share and keeps nothing of any of them.

    Attributes:
        run_seed: the run's; with a record's id it decides every random choice.
        models: the mix; each record is sanitized by one of them.
        log: the shard's journal: what stands there is not asked again.
        transcript: called with each request and reply.
    """

    run_seed: int
    config: SanitizationConfig
    models: Sequence[MixedModel]
    log: EventLog
    transcript: Callable[[Request, Reply], None] | None = None

    async def run(self, source: Source) -> Triplet | Reject:
        """Sanitize one record.

        Raises:
            BackendUnavailable: a model does not answer; the shard has to be tried again later.
        """
        model = self._drawn_model(source.record_id)
        ask = Asker(
            record_id=source.record_id,
            run_seed=self.run_seed,
            backend=model.backend,
            log=self.log,
            attempts=self.config.attempts,
            repeat_penalty=model.repeat_penalty,
            forbidden_characters=model.forbidden_characters,
            transcript=self.transcript,
        )
        identity = Identity(source.record_id, source.index, self.run_seed, model.backend.model, source.language)
        run = _Run(self, source, identity, ask, model)
        if not source.attributes:
            detail = "no attribute stands in the text: there is nothing to hide"
            return Reject(identity, "filtered", "targets", "no_attributes", detail, None, run.spent())
        try:
            return await run.triplet()
        except StepFailed as failure:
            return Reject(
                identity, "quarantined", failure.step, failure.reason, failure.detail, failure.last_reply, run.spent()
            )

    def _drawn_model(self, record_id: str) -> MixedModel:
        ends = np.cumsum([model.weight for model in self.models])
        place = rng(self.run_seed, record_id, "sanitizer").random() * ends[-1]
        return self.models[int(np.searchsorted(ends, place, side="right"))]


@dataclass(frozen=True)
class _Run:
    """One record on its way."""

    chain: SanitizationChain
    source: Source
    identity: Identity
    ask: Asker
    model: MixedModel

    async def triplet(self) -> Triplet:
        config, source = self.chain.config, self.source
        weights = await weigh(self.ask, source.attributes, config.cold)
        targets = draw_targets(source, weights, config, self._rng("targets"))
        chunks = decompose(source.text, config.chunk_characters)
        texts, passes = await self._hidden(targets, [chunk.text for chunk in chunks])
        sanitized = "".join(texts)
        most = int(self._rng("retained").integers(1, config.retained, endpoint=True))
        retained = choose_retained(source, targets, sanitized, most)
        # What an earlier target took along was done already: nobody would ask for it.
        done = [
            (target, worked.instruction)
            for target, works in zip(targets, passes, strict=True)
            if (worked := next((work for work in works if work.edits), None))
        ]
        request = await write_request(self.ask, source, targets, done, retained, config, self._rng("request"))
        named = {target for (target, _), clause in zip(done, request.clauses, strict=True) if clause.members}
        return Triplet(
            identity=self.identity,
            text=source.text,
            chunks=tuple(chunks),
            sanitized=tuple(texts),
            targets=targets,
            passes=tuple(map(tuple, passes)),
            members_named=tuple(target in named for target in targets),
            retained=tuple(Retained(attribute, overlap(attribute, targets)) for attribute in retained),
            request=request,
            leaks=verify(sanitized, targets),
            spent=self.spent(),
            prompt_shas=PROMPT_SHAS,
        )

    async def _hidden(self, targets: Sequence[Target], texts: list[str]) -> tuple[list[str], list[list[Work]]]:
        """Hide the targets one after the other, each in what the ones before have left; once more what still leaks."""
        passes: list[list[Work]] = []
        for number, target in enumerate(targets):
            work = await hide(self.ask, target, texts, str(number), self.chain.config)
            texts = applied(texts, work)
            passes.append([work])
        for number in sorted({found.target for found in verify("".join(texts), targets)}):
            before = passes[number][0].instruction  # the same again: one fact is put in the same words everywhere
            work = await hide(self.ask, targets[number], texts, f"{number}-again", self.chain.config, before)
            texts = applied(texts, work)
            passes[number].append(work)
        return texts, passes

    def _rng(self, step: str) -> np.random.Generator:
        return rng(self.chain.run_seed, self.source.record_id, f"sanitize-{step}")

    def spent(self) -> Spent:
        steps = dict(self.ask.spent)
        return Spent(steps, self.model.cost_usd(sum((step.usage for step in steps.values()), Usage())))
