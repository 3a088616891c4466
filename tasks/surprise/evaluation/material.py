"""From scored documents to what a procedure works on: the right scores, and the features it combines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tasks.surprise.baselines.methods import Material
from tasks.surprise.combine import Combination
from tasks.surprise.documents import Document
from tasks.surprise.evaluation.features import features_of, reading_of
from tasks.surprise.evaluation.notation import Misspelled, Reading
from tasks.surprise.policy import Conditioning, Contrasted, Prompted, Unprompted
from tasks.surprise.procedure import Batch, CombinedScore, Procedure
from tasks.surprise.rows import F64, Bool, Scores
from tasks.surprise.scored import ScoredSet

_KINDS: Mapping[Reading, type[Conditioning]] = {"plain": Unprompted, "prompted": Prompted, "contrast": Contrasted}


def conditioning_of(scored: ScoredSet, readings: Sequence[Reading]) -> Conditioning:
    """Say under which prompts these readings were taken: what a policy has to state of them.

    Raises:
        Misspelled: the documents were not scored so, or two readings have prompts, which no policy can state.
    """
    prompted = sorted({reading for reading in readings if reading != "plain"})
    if len(prompted) > 1:
        raise Misspelled("prompted and contrast scores in one policy: it states one prompt or one pair, choose one")
    wanted: Reading = prompted[0] if prompted else "plain"
    for conditioning in scored.conditionings:
        if isinstance(conditioning, _KINDS[wanted]):
            return conditioning
    there = ", ".join(each.kind for each in scored.conditionings) or "none"
    raise Misspelled(f"the documents have no {wanted} scores, only {there}: score them again with the prompts for it")


def combined(
    procedure: Procedure, names: Sequence[str], pieces: Iterable[ScoredSet], conditioning: Conditioning
) -> Procedure:
    """Let a procedure score windows by several features, standardised as on these documents (SM D.4).

    Raises:
        Misspelled: no feature is called that.
        ValueError: a feature has no two different scores here.
    """
    values = (_features(names, procedure, scored, scored.batch(conditioning), conditioning) for scored in pieces)
    score = CombinedScore(combination=Combination.fit(values))
    return procedure.model_copy(update={"score": score})


def material_of(
    scored: ScoredSet,
    procedure: Procedure,
    conditioning: Conditioning,
    documents: Sequence[Document] | None = None,
    counted: Bool | None = None,
) -> Material:
    """Give the documents with the scores, and the features, that a procedure works on.

    Args:
        scored: the documents.
        procedure: whose material it is.
        conditioning: the prompts that its scores must have been taken under.
        documents: the same ones with other labels; None for those that were scored.
        counted: those that count; None for all.

    Raises:
        ScoresUnfit: the documents were scored otherwise.
    """
    batch = with_features(scored, procedure, conditioning)
    return Material(scored.documents if documents is None else documents, batch, counted=counted)


def with_features(scored: ScoredSet, procedure: Procedure, conditioning: Conditioning) -> Batch:
    """The batch of the scored documents, with features where the procedure combines some.

    Raises:
        ScoresUnfit: the documents were scored otherwise.
    """
    batch = scored.batch(conditioning)
    if not isinstance(procedure.score, CombinedScore):
        return batch
    names = [feature.name for feature in procedure.score.combination.features]
    return replace(batch, features=_features(names, procedure, scored, batch, conditioning))


def _features(
    names: Sequence[str], procedure: Procedure, scored: ScoredSet, batch: Batch, conditioning: Conditioning
) -> dict[str, F64]:
    return features_of(names, _readings(names, scored, conditioning), batch, procedure.cut(batch))


def _readings(names: Sequence[str], scored: ScoredSet, conditioning: Conditioning) -> Mapping[Reading, Scores]:
    wanted = {reading_of(name) for name in names}
    return {
        reading: scored.scores(Unprompted() if reading == "plain" else conditioning)
        for reading in sorted(wanted)
        if reading == "plain" or isinstance(conditioning, _KINDS[reading])
    }
