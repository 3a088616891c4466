"""The edge of the study before any model: thresholds and masks in folders; what is there already is read."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from prefect import task
from prefect.cache_policies import NO_CACHE
from transformers import PreTrainedTokenizerBase

from infra.detectors.privacy_filter import PrivacyFilter
from infra.engines.causal_lm import load_tokenizer
from infra.shards import files
from infra.shards.spec import spec_hash
from tasks.masking_study.config import Scale, StudyName, Training
from tasks.masking_study.grid import maskings
from tasks.masking_study.levels import Levels, calibrate_levels
from tasks.masking_study.yardsticks import Yardsticks, yardsticks
from tasks.measuring.corpus.steps import read_gold_chats
from tasks.measuring.gold_examples import chat_example
from tasks.surprise.baselines.privacy_filter import Decoded
from tasks.surprise.documents import Chat
from tasks.surprise.policy import Policy
from tasks.surprise.reading.input import read
from tasks.surprise.reading.steps import InputConfig
from tasks.surprise.scored import ScoredSet
from tasks.surprise.store.steps import read_scores
from tasks.training.answers import Answers
from tasks.training.masked.config import FromScratch, Pretrained
from tasks.training.masked.mask_file import MaskTable
from tasks.training.masked.maskings import ByMethod
from tasks.training.masked.steps import COVERAGE, MASKS, TOKENIZER, write_masks
from tasks.training.masked.tokenizer import train_tokenizer, without_labels
from tasks.training.steps import to_json

CALIBRATION = "calibration.json"
VERSION = 1  # of what is made here: raise it when the code makes other thresholds or masks of the same scores
_ANY_LENGTH = 1 << 20


@task(cache_policy=NO_CACHE)
def find_levels(folder: Path, scores: Path, study: StudyName, recalls: tuple[int, ...]) -> Levels:
    """Calibrate the policies of a study, or read those that were calibrated on the same scores.

    Args:
        folder: for ``calibration.json`` and a file a policy.
        scores: data set of the scores of the calibration split.
        study: names the procedure.
        recalls: target recalls in percent.

    Raises:
        ScoresUnfit: there are no scores, or of several models.
    """
    scored = read_scores(scores.parent, scores.name)
    asked = spec_hash({"scores": scored.sha256, "study": study, "recalls": list(recalls), "version": VERSION})
    if (held := files.read(folder / CALIBRATION)) is not None and (told := json.loads(held))["fingerprint"] == asked:
        policies = {name: Policy.from_json((folder / f"{name}.json").read_text("utf-8")) for name in told["policies"]}
        return Levels(policies, told["missing"], told["figures"])
    levels = calibrate_levels(scored, study, recalls)
    folder.mkdir(parents=True, exist_ok=True)
    for name, policy in levels.policies.items():
        files.put(folder / f"{name}.json", policy.to_json().encode())
    found = {"policies": list(levels.policies), "missing": levels.missing, "figures": levels.figures}
    files.put(folder / CALIBRATION, to_json({"fingerprint": asked, **found}))
    return levels


@task(cache_policy=NO_CACHE)
def make_masks(
    root: Path, scores: Path, chats: InputConfig, policies: Mapping[str, Policy], scale: Scale, opf: str | None
) -> Path:
    """Make the masks that all models share, unless they are there; returns their folder.

    Args:
        root: in which a folder is made, named after what shapes it.
        scores: data set of the scores of the training split.
        chats: where that split is, to be rendered by the trained model's template.
        policies: by masking.
        scale: of the study.
        opf: where the OpenAI Privacy Filter is; None for no such masking.

    Raises:
        ScoresUnfit: there are no scores, or of several models.
        InputUnfit: the chats are gone.
        NoChatTemplate, ChatUnfit, GroundUnfit: the trained model cannot read them (``Ground.of``).
    """
    scored = read_scores(scores.parent, scores.name)
    shaped_by = {
        "scores": scored.sha256,
        "policies": {name: policy.model_dump(mode="json") for name, policy in policies.items()},
        "methods": scale.methods.model_dump(mode="json", exclude={"actions"}),
        "model": scale.training.model_dump(mode="json", include={"start", "vocabulary"}),
        "opf": opf,
        "version": VERSION,
    }
    home = root / f"masks-{spec_hash(shaped_by)[:8]}"
    if not (home / COVERAGE).exists():
        filtered = None if opf is None else ByMethod("opf", Decoded(PrivacyFilter.load(opf)), "trained")
        made = maskings(scale.methods, policies, filtered)
        write_masks(lambda: [scored], _tokenizer(scale.training, scored), made, home, _read(chats))
    return home


def _read(chats: InputConfig) -> dict[str, Chat]:
    rows = chats.open()
    return {item.id: item for item in read(rows.slices(0, rows.rows)).items if isinstance(item, Chat)}


def _tokenizer(training: Training, scored: ScoredSet) -> PreTrainedTokenizerBase:
    match training.start:
        case Pretrained(name=name, revision=revision):
            return load_tokenizer(name, revision)
        case FromScratch():
            assert training.vocabulary is not None  # the configuration says so
            tokenizer = train_tokenizer(without_labels(scored.documents), training.vocabulary)
            # Its models read chats alone, and stop where an answer does, not where a text would.
            tokenizer.eos_token = tokenizer.convert_ids_to_tokens(Answers(tokenizer, _ANY_LENGTH).end_of_turn)
            return tokenizer


def measure_yardsticks(corpus: Path, masks: Path) -> Yardsticks:
    """Score the gold answers of a corpus by the token frequencies of the training data alone."""
    tokenizer = load_tokenizer(str(masks / TOKENIZER))
    answers = Answers(tokenizer, _ANY_LENGTH)
    table = MaskTable.read(masks / MASKS)
    trained = np.asarray(table.tokens[table.supervised], dtype=np.int64)
    gold = [chat_example(answers, *row) for row in read_gold_chats(corpus)]
    return yardsticks(trained, gold, len(tokenizer))
