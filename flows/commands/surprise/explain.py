"""``privasis surprise explain``: a text in colours, with what a policy masks of it boxed."""

import asyncio
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from flows.commands.surprise.opening import open_first, open_policy, open_scores
from flows.config import ConfigError
from infra.shards import files
from infra.shards.location import Location, ObjectPath
from tasks.surprise.documents import Document
from tasks.surprise.explain.page import page
from tasks.surprise.explain.terminal import render
from tasks.surprise.explain.view import explain
from tasks.surprise.policy import Policy, PolicyMismatch, Unprompted
from tasks.surprise.score_rows import ScoredDocument, tables
from tasks.surprise.scored import ScoredSet, ScoresUnfit
from tasks.surprise.scoring.scorer import Scored, passes_of
from tasks.surprise.scoring.scorer import Text as ToScore
from tasks.surprise.store.steps import read_document

LONGEST = 200_000  # characters: a page of more is of no use to a person


def run(file: Location, policy: Path | None, model: str | None, document: str | None, html: Path | None) -> None:
    """Explain a text file, scoring it now, or a document of scores in a folder.

    Raises:
        ConfigError: neither a model nor a policy, no such document, or scores that the policy does not fit.
    """
    is_scores = files.is_folder(file)
    if is_scores and model is not None:
        raise ConfigError(f"--model {model}: {file} was scored before, and is shown as it was: leave --model out")
    if not is_scores and document is not None:
        raise ConfigError(
            f"--document {document}: {file} is one text: leave --document out, or name a folder of scores"
        )
    frozen = None if policy is None else open_policy(policy)
    if html is not None:  # now, not after the work
        html.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(file, ObjectPath) or is_scores:
        scored, title = _document(file, document)
    else:
        scored, title = _scored_now(file, frozen, model), file.name
    try:
        explained = explain(scored, frozen)
    except (PolicyMismatch, ScoresUnfit, ValueError) as error:
        raise ConfigError(f"{policy or file}: {error}") from error
    console = Console()
    console.print(render(explained, title))
    if html is not None:
        facts = {"model": scored.reference.model, "scores": explained.score_name}
        if policy is not None and frozen is not None:
            achieved = frozen.achieved
            facts["policy"] = (
                f"{policy.name}: recall {achieved.recall:.1%} at a collateral of {achieved.collateral:.1%}"
                f" of {achieved.unit}s on its validation data"
            )
        files.put(html, page(explained, title, facts).encode())
        console.print(Text(f"\nThe page, with the text in it: {html}"), soft_wrap=True)


def _document(folder: Location, document: str | None) -> tuple[ScoredSet, str]:
    such = f"--document, such as {open_first(folder).ids[0]}"
    if document is None:
        raise ConfigError(f"{folder}: which document? {such}")
    found = open_scores(folder, partial(read_document, document_id=document))
    if not len(found):
        raise ConfigError(f"{folder}: no document {document!r}: {such}")
    return found, document


def _scored_now(file: Path, policy: Policy | None, model: str | None) -> ScoredSet:
    try:
        # As ``score`` reads a file: without a byte order mark, and with its line ends, for offsets count them.
        with file.open(encoding="utf-8-sig", newline="") as opened:
            text = opened.read()
    except FileNotFoundError as error:
        raise ConfigError(
            f"{file}: no such file: name a text, or the folder that `privasis surprise score` named, with --document"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8: {error}") from error
    if not text or len(text) > LONGEST:
        raise ConfigError(f"{file}: {len(text):,} characters: explain takes 1 to {LONGEST:,}")
    name = model or (None if policy is None else policy.reference.model.partition("@")[0])
    if name is None:
        raise ConfigError("give --policy, whose model then scores the file, or --model for the colours alone")
    return asyncio.run(_score(Document(file.name, text), name, policy))


async def _score(document: Document, name: str, policy: Policy | None) -> ScoredSet:
    from tasks.surprise.reference.steps import ReferenceModel, opened  # torch

    reference = ReferenceModel(name=name)
    reference.check_installed()
    passes = passes_of(Unprompted() if policy is None else policy.conditioning)
    async with opened(reference) as model:
        found: list[Scored] = await asyncio.to_thread(
            lambda: list(model.scorer.score([ToScore(document.text)], passes))
        )
    table = tables([ScoredDocument(document, found[0])], 0, model.scorer.reference)["scores"]
    prompts: dict[str, str] = {each.name: each.prompt for each in passes if each.prompt is not None}
    return ScoredSet(table, model.scorer.reference, "", prompts)
