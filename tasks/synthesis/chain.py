"""The whole chain of one record: from its place in the population to a row, or to a reject with its reason."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from infra.llm.types import Backend, Embedder, Reply, ReplyUnusable, Request, RequestRejected, Usage
from tasks.ask import Asker, StepFailed, StepSpent
from tasks.concurrency import both
from tasks.diversity.words import count_words
from tasks.events import EventLog, event_key
from tasks.synthesis import attributes as annotation
from tasks.synthesis.config import SynthesisConfig
from tasks.synthesis.draws import Draws, draw
from tasks.synthesis.filters import FILTER_REASONS, Rejection, degenerate, under_age
from tasks.synthesis.options import Language, language_named
from tasks.synthesis.outcome import Identity, Outcome, Record, Reject, Spent
from tasks.synthesis.profile import Event, Profile, invent_person
from tasks.synthesis.prompts import PROMPT_SHAS
from tasks.synthesis.record import TOKENS_PER_WORD, draft_prompt, facts_of, plan_record
from tasks.synthesis.refine import DiversityPool, Refiner
from tasks.synthesis.seeds import record_id, rng

SINGLE_SHOT = frozenset({"attributes", "label"})  # one call a record on its finished text, and neither needs the other

F32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class MixedModel:
    """A model of the run's mix.

    Attributes:
        weight: its share of the records, relative to the other weights.
        cost_usd: what the tokens of some calls cost.
        repeat_penalty: for small models, which loop without.
        forbidden_characters: what its free texts must not contain, where the server can see to that.
        batch: the same model by its provider's Batch API, at another price, for the steps in ``SINGLE_SHOT``.
    """

    backend: Backend
    weight: float
    cost_usd: Callable[[Usage], float]
    repeat_penalty: float | None = None
    forbidden_characters: str = ""
    batch: "MixedModel | None" = None

    def of_step(self, step: str) -> "MixedModel":
        """Return the way on which the model is asked at ``step``."""
        return self.batch if self.batch is not None and step in SINGLE_SHOT else self

    def bill_usd(self, steps: Mapping[str, StepSpent]) -> float:
        """Return what the calls of some steps cost."""
        by_batches = sum((spent.usage for step, spent in steps.items() if self.of_step(step) is not self), Usage())
        own = sum((spent.usage for step, spent in steps.items() if self.of_step(step) is self), Usage())
        return self.cost_usd(own) + (0.0 if self.batch is None else self.batch.cost_usd(by_batches))


class DegenerateText(ReplyUnusable):
    """The text is no record of anybody; its reason is the filter's name."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.detail)
        self._rejection = rejection

    @property
    def reason(self) -> str:
        """Name of the filter."""
        return self._rejection.reason


@dataclass(frozen=True)
class Chain:
    """Makes the records of one run; holds what they share and keeps nothing of any of them.

    Attributes:
        run_seed: the run's; with a record's index it decides every random choice.
        models: the mix; each record is written by one of them.
        log: the shard's journal: what stands there is not asked again.
        transcript: called with each request and reply, for previews.
    """

    run_seed: int
    config: SynthesisConfig
    models: Sequence[MixedModel]
    embedder: Embedder
    pool: DiversityPool
    log: EventLog
    transcript: Callable[[Request, Reply], None] | None = None
    language: Language = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "language", language_named(self.config.language))

    async def run(self, index: int) -> Record | Reject:
        """Make the record at ``index`` of the population.

        Raises:
            BackendUnavailable: a model or the embedder does not answer; the shard has to be tried again later.
        """
        run = self._begin(index)
        try:
            return await run.record()
        except StepFailed as failure:
            return run.reject(failure)

    def _begin(self, index: int) -> "_Run":
        name = record_id(self.run_seed, index)
        model = self._drawn_model(name)
        asker = Asker(
            record_id=name,
            run_seed=self.run_seed,
            backend=model.backend,
            log=self.log,
            attempts=self.config.attempts,
            repeat_penalty=model.repeat_penalty,
            forbidden_characters=model.forbidden_characters,
            transcript=self.transcript,
        )
        identity = Identity(name, index, self.run_seed, model.backend.model, self.config.language)
        return _Run(self, identity, asker, model)

    def _drawn_model(self, name: str) -> MixedModel:
        ends = np.cumsum([model.weight for model in self.models])
        place = rng(self.run_seed, name, "model").random() * ends[-1]
        return self.models[int(np.searchsorted(ends, place, side="right"))]


@dataclass(frozen=True)
class _Run:
    """One record on its way."""

    chain: Chain
    identity: Identity
    ask: Asker
    model: MixedModel
    vectors: dict[str, F32] = field(default_factory=dict)

    async def record(self) -> Record | Reject:
        config = self.chain.config
        draws = draw(self.chain.run_seed, self.identity.record_id, config.draws)
        if (rejection := under_age(draws.age)) is not None:  # before anything is paid for
            return self._filtered("draws", rejection)
        return await self._written(draws)

    async def _written(self, draws: Draws) -> Record | Reject:
        config, ask = self.chain.config, self.ask
        profile, event = await invent_person(ask, draws, config.temperatures.profile)
        facts = facts_of(profile, event)
        plan = await plan_record(ask, facts, config)
        longest = config.words * TOKENS_PER_WORD
        draft = await ask.text(
            "draft",
            draft_prompt(facts, plan, config),
            temperature=config.temperatures.draft,
            max_tokens=longest,
            check=self._acceptable,
        )
        refiner = Refiner(
            ask=ask,
            pool=self.chain.pool,
            embed=self._embed,
            embedder_model=self.chain.embedder.model,
            config=config.refinement,
            temperatures=config.temperatures,
        )
        asked = facts | {"record_type": plan.record_type, "words": config.words, "language": config.language}
        text, trace = await refiner.refine(draft, asked, max_tokens=longest, check=self._acceptable)
        (found, groups), label = await both(
            lambda: self._annotation(text, profile, event),
            lambda: self._label(text),
            at_once=1 if self.model.batch is None else 2,  # one batch takes attributes and label
        )
        embedding = await self._embed(text)
        await self.chain.pool.add(embedding)
        return Record(
            identity=self.identity,
            profile=profile,
            event=event,
            plan=plan,
            text=text,
            words=count_words(text),
            label=label,
            attributes=tuple(found),
            groups=tuple(groups),
            refinement=tuple(trace),
            embedding=embedding,
            spent=self._spent(),
            prompt_shas=PROMPT_SHAS,
        )

    async def _annotation(
        self, text: str, profile: Profile, event: Event
    ) -> tuple[list[annotation.Attribute], list[annotation.Group]]:
        config, cold = self.chain.config, self.chain.config.temperatures.extraction
        ask = self._asker_of("attributes")
        found = await annotation.annotate(ask, text, profile, event, most=config.attributes, temperature=cold)
        return found, await annotation.group(self.ask, found, cold)

    async def _label(self, text: str) -> tuple[str, str] | None:
        if not self._is_labelled():
            return None
        return await annotation.label(self._asker_of("label"), text, self.chain.config.temperatures.extraction)

    def _asker_of(self, step: str) -> Asker:
        return replace(self.ask, backend=self.model.of_step(step).backend)

    def reject(self, failure: StepFailed) -> Reject:
        """File a chain that could not go on: filtered if its text was no record, quarantined for all else."""
        no_record = failure.step == "draft" and failure.reason in FILTER_REASONS  # JSON can be cut off or refused, too
        outcome: Outcome = "filtered" if no_record else "quarantined"
        return Reject(
            self.identity, outcome, failure.step, failure.reason, failure.detail, failure.last_reply, self._spent()
        )

    def _filtered(self, step: str, rejection: Rejection) -> Reject:
        return Reject(self.identity, "filtered", step, rejection.reason, rejection.detail, None, self._spent())

    def _spent(self) -> Spent:
        steps = dict(self.ask.spent)
        return Spent(steps, self.model.bill_usd(steps))

    def _acceptable(self, text: str) -> str:
        if (rejection := degenerate(text, self.chain.language)) is not None:
            raise DegenerateText(rejection)
        return text

    def _is_labelled(self) -> bool:
        draw = rng(self.chain.run_seed, self.identity.record_id, "labelled")
        return bool(draw.random() < self.chain.config.label_share)

    async def _embed(self, text: str) -> F32:
        if text in self.vectors:
            return self.vectors[text]

        async def produce() -> bytes:
            vectors = await self.chain.embedder.embed([text])
            return bytes(vectors[0].astype("<f4").tobytes())

        key = event_key(
            self.identity.record_id, "embed", self.chain.embedder.model, hashlib.sha256(text.encode()).hexdigest()
        )
        try:
            stored = await self.chain.log.once(key, produce)
        except RequestRejected as error:  # as in a step of the model's: this text, not the shard
            raise StepFailed("embed", "request_rejected", str(error), text) from error
        self.vectors[text] = np.frombuffer(stored, dtype="<f4")
        return self.vectors[text]
