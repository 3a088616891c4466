"""All interventions on one document, side by side, and what is left of it after each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from infra.llm.types import Reply, Request, Usage
from tasks.ask import Asker, StepFailed, StepSpent
from tasks.events import EventLog
from tasks.surprise.documents import Document
from tasks.surprise.routing.bleu import sentence_bleu
from tasks.surprise.routing.config import RoutingConfig
from tasks.surprise.routing.judge import kept, private_values, propositions, values_gone
from tasks.surprise.routing.prompts import PROMPT_SHAS
from tasks.surprise.routing.rewrite import Rewritten, rewrite_document, rewrite_sentences
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.outcome import Identity, Spent

UNMODIFIED, WHOLE = "unmodified", "document"


@dataclass(frozen=True, slots=True)
class Source:
    """A document to route.

    Attributes:
        index: its place in the input.
        sentences: (start, end, rank) of each; they tile the text.
        tokens: of the reference model.
    """

    document: Document
    index: int
    sentences: tuple[tuple[int, int, int], ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Bill:
    """What one of the two models was paid for a document."""

    identity: Identity
    spent: Spent


@dataclass(frozen=True, slots=True)
class RoutedDocument:
    """What became of a document.

    Attributes:
        rows: of ``ROUTED``, one an intervention.
        bills: of the rewriter, and of the judge where there is one.
    """

    rows: tuple[dict[str, Any], ...]
    bills: tuple[Bill, ...]

    @property
    def identity(self) -> Identity:
        """The document, and its rewriter."""
        return self.bills[0].identity

    @property
    def spent(self) -> Spent:
        """What all models took."""
        steps = {name: step for bill in self.bills for name, step in bill.spent.steps.items()}
        return Spent(steps, sum(bill.spent.cost_usd for bill in self.bills))


@dataclass(frozen=True)
class RoutingChain:
    """Routes the documents of one run.

    Attributes:
        seed: the run's.
        cuts: name of each intervention on sentences, and the last rank that it sends.
        rewriter: the model that rewrites.
        judge: the model that says which facts are left; None for none.
        log: the shard's journal: the same sentence in the same surroundings is asked for once, whatever sends it.
        transcript: called with each request and reply.
    """

    seed: int
    config: RoutingConfig
    cuts: Mapping[str, int]
    rewriter: MixedModel
    judge: MixedModel | None
    log: EventLog
    transcript: Callable[[Request, Reply], None] | None = None

    async def run(self, source: Source) -> RoutedDocument:
        """Apply every intervention to one document.

        Raises:
            BackendUnavailable: a model does not answer; the shard has to be tried again later.
        """
        return await _Run(self, source).all()

    def asker(self, name: str, model: MixedModel) -> Asker:
        """Ask on behalf of one intervention: each pays for all that it would take alone."""
        return Asker(
            record_id=name,
            run_seed=self.seed,
            backend=model.backend,
            log=self.log,
            attempts=self.config.attempts,
            repeat_penalty=model.repeat_penalty,
            forbidden_characters=model.forbidden_characters,
            transcript=self.transcript,
        )


@dataclass(frozen=True)
class _Run:
    chain: RoutingChain
    source: Source
    steps: dict[str, StepSpent] = field(default_factory=dict)

    async def all(self) -> RoutedDocument:
        document, chain = self.source.document, self.chain
        judge = None if chain.judge is None else chain.asker(document.id, chain.judge)
        facts = await self._facts(judge)
        rows = [await self._row(UNMODIFIED, Rewritten(document.text, 0, 0), None, judge, facts)]
        for name, last in chain.cuts.items():
            spans = [(start, end) for start, end, rank in self.source.sentences if 0 < rank <= last]
            ask = chain.asker(document.id, chain.rewriter)
            done = await rewrite_sentences(ask, document.text, spans, chain.config)
            rows.append(await self._row(name, done, ask, judge, facts))
        if chain.config.whole:
            ask = chain.asker(document.id, chain.rewriter)
            done = await rewrite_document(ask, document.text, chain.config)
            rows.append(await self._row(WHOLE, done, ask, judge, facts))
        bills = [self._bill(chain.rewriter, Spent(dict(self.steps), sum(row["cost_usd"] for row in rows)))]
        if judge is not None and chain.judge is not None:
            step = StepSpent(sum(step.calls for step in judge.spent.values()), _usage(judge))
            bills.append(self._bill(chain.judge, Spent({"judge": step}, chain.judge.cost_usd(step.usage))))
        return RoutedDocument(tuple(rows), tuple(bills))

    def _bill(self, model: MixedModel, spent: Spent) -> Bill:
        document = self.source.document
        return Bill(Identity(document.id, self.source.index, self.chain.seed, model.backend.model, ""), spent)

    async def _facts(self, judge: Asker | None) -> Sequence[str] | None:
        text = self.source.document.text
        if judge is None or not text.strip():
            return None
        try:
            return await propositions(judge, text, self.chain.config)
        except StepFailed:
            return None

    async def _row(
        self, name: str, done: Rewritten, ask: Asker | None, judge: Asker | None, facts: Sequence[str] | None
    ) -> dict[str, Any]:
        document, model = self.source.document, self.chain.rewriter
        usage = Usage() if ask is None else _usage(ask)
        if ask is not None:
            self._note(name, ask)
        left = None
        if judge is not None and facts:
            try:
                left = await kept(judge, name, done.text, facts)
            except StepFailed:
                left = None
        values = private_values(document)
        return {
            "row_id": f"{document.id}/{name}",
            "document_id": document.id,
            "index": self.source.index,
            "intervention": name,
            "text": done.text,
            "source_tokens": self.source.tokens,
            "sent": done.sent,
            "failed": done.failed,
            "private_values": len(values),
            "values_gone": values_gone(done.text, values),
            "bleu": sentence_bleu(document.text, done.text),
            "facts": len(facts) if facts and left is not None else None,
            "facts_kept": left,
            "model": model.backend.model,
            "calls": 0 if ask is None else sum(step.calls for step in ask.spent.values()),
            "tokens": asdict(usage),
            "cost_usd": model.cost_usd(usage),
            "prompt_shas": [{"prompt": prompt, "sha": sha} for prompt, sha in PROMPT_SHAS.items()],
        }

    def _note(self, name: str, ask: Asker) -> None:
        self.steps[name] = StepSpent(sum(step.calls for step in ask.spent.values()), _usage(ask))


def _usage(ask: Asker) -> Usage:
    return sum((step.usage for step in ask.spent.values()), Usage())
