from pathlib import Path

import numpy as np
import pytest

from tasks.surprise.calibrate import TargetRecall
from tasks.surprise.metrics import Counts
from tasks.surprise.policy import Achieved, Policy, Reference
from tasks.surprise.procedure import FixedWindows, Procedure
from tasks.surprise.rules import GlobalRule
from tasks.surprise.scored import ScoredSet
from tasks.training.masked.coverage import coverage
from tasks.training.masked.ground import Ground, runs
from tasks.training.masked.mask_file import MaskTable, mask_writer
from tasks.training.masked.maskings import (
    ByPolicy,
    MaskingUnfit,
    RandomLike,
    Unmasked,
    goldfish,
    masks,
    oracle,
    stm,
)
from tasks.training.masked.tokenizer import train_tokenizer, without_labels
from tests.tasks.surprise.score_tables import MODEL, TOKENIZER, score_row, score_table

TEXT = "key = 'Zq7Xw2Kd' # used to open the door\n"
SECRET = (7, 15)


def surprised(text: str, spans: tuple[tuple[int, int], ...]) -> list[float]:
    """Five nats a character in these spans, a tenth of one elsewhere."""
    return [5.0 if any(a <= place < b for a, b in spans) else 0.1 for place in range(len(text))]


def scored(documents: int = 6) -> ScoredSet:
    rows = [
        score_row(
            place,
            f"{place} {TEXT}",
            {"plain": surprised(f"{place} {TEXT}", ((9, 17),))},
            group="one",
            labels=[{"start": 9, "end": 17, "category": "credential"}],
            labelled=True,
        )
        for place in range(documents)
    ]
    return ScoredSet(score_table(rows), Reference(model=MODEL, tokenizer_sha256=TOKENIZER), "c" * 64)


def policy(threshold: float = 3.0) -> Policy:
    achieved = Achieved(
        unit="token",
        counts=Counts(true_positives=1, false_positives=0, false_negatives=0, true_negatives=1),
        recall=1.0,
        collateral=0.0,
        f1=1.0,
        mask_everything_f1=0.7,
        auroc=1.0,
    )
    return Policy(
        reference=Reference(model=MODEL, tokenizer_sha256=TOKENIZER),
        procedure=Procedure(windows=FixedWindows(width=2), rule=GlobalRule(), consensus=2),
        threshold=threshold,
        goal=TargetRecall(recall=0.95),
        validation_sha256="d" * 64,
        achieved=achieved,
    )


def ground() -> Ground:
    data = scored()
    return Ground.of(data, train_tokenizer(without_labels(data.documents), 300))


def text_of(here: Ground, mask: np.ndarray, row: int = 0) -> str:
    """The characters of a document that the masked tokens stand for."""
    first, last = here.tokens.row_offsets[row : row + 2]
    spans, text = here.tokens.spans, here.documents[row].text
    return "".join(text[spans.start[at] : spans.end[at]] for at in range(first, last) if mask[at])


def test_the_oracle_selects_the_labelled_spans_and_nothing_nothing() -> None:
    here = ground()
    found = masks([Unmasked(), oracle()], here)
    assert text_of(here, found["oracle"]) == "Zq7Xw2Kd"
    assert not found["unmasked"].any()


def test_a_policy_selects_by_the_reference_models_characters_not_by_its_tokens() -> None:
    here = ground()
    assert here.tokens.size < sum(map(len, here.scored.texts))  # another tokenizer than that of single characters
    # The first of the surprising characters is in one selected window alone, so no two windows agree on the borders:
    # [8, 10) has mean 2.55, [9, 11) has 5.
    found = masks([ByPolicy("SM", policy(3.0))], here)["SM"]
    assert text_of(here, found) == "q7Xw2K"


def test_chance_selects_exactly_as_many_tokens_and_the_same_ones_again() -> None:
    here = ground()
    found = masks([oracle(), RandomLike("random", "oracle")], here)
    again = masks([oracle(), RandomLike("random", "oracle")], here)
    assert found["random"].sum() == found["oracle"].sum() > 0
    assert (found["random"] == again["random"]).all()
    assert (found["random"] != found["oracle"]).any()


def test_goldfish_selects_about_one_in_k_of_the_trained_tokens_alike_in_equal_texts() -> None:
    data = ScoredSet(
        score_table([score_row(place, " ".join(f"w{n * 37 % 101}" for n in range(400))) for place in range(2)]),
        Reference(model=MODEL, tokenizer_sha256=TOKENIZER),
        "c" * 64,
    )
    here = Ground.of(data, train_tokenizer(data.texts, 280))
    found = masks([goldfish(2), goldfish(3), goldfish(2, "reference"), goldfish(3, "reference")], here)
    half = here.tokens.size // 2
    for name, k in (("goldfish:2", 2), ("goldfish:3", 3), ("goldfish-reference:2", 2), ("goldfish-reference:3", 3)):
        assert abs(found[name].mean() - 1 / k) < 0.08, name
        assert (found[name][:half] == found[name][half:]).all(), name
    assert (found["goldfish:2"] != found["goldfish-reference:2"]).any()


def test_stm_selects_what_the_reference_model_finds_perplexing() -> None:
    here = ground()
    assert text_of(here, masks([stm()], here)["stm"]) == "Zq7Xw2Kd"  # exp(5) > 2.5 > exp(0.1)


def test_what_cannot_be_told_apart_or_matched_is_refused() -> None:
    here = ground()
    with pytest.raises(MaskingUnfit, match="oracle: given twice"):
        masks([oracle(), oracle()], here)
    with pytest.raises(MaskingUnfit, match="random: no masking SM before it, only unmasked"):
        masks([Unmasked(), RandomLike("random", "SM")], here)


def test_coverage_counts_targets_others_and_documents() -> None:
    here = ground()
    made = masks([Unmasked(), oracle(), ByPolicy("SM", policy())], here)
    assert (coverage(made["oracle"], here).of_targets, coverage(made["oracle"], here).collateral) == (1.0, 0.0)
    nothing = coverage(made["unmasked"], here)
    assert (nothing.of_targets, nothing.collateral, nothing.touched_documents) == (0.0, 0.0, 0)
    found = coverage(made["SM"], here)
    assert found.touched_documents == found.documents == 6
    assert found.by_category == {"credential": (found.targets, found.masked_targets)}
    assert 0.5 < (found.of_targets or 0) < 1.0
    assert found.targets == int(made["oracle"].sum())


def test_a_table_of_masks_survives_its_file(tmp_path: Path) -> None:
    here = ground()
    made = masks([Unmasked(), oracle(), goldfish(2)], here)
    table = MaskTable.of(here, made)
    for name in ("masks", "again"):
        with mask_writer(tmp_path / name, made, "c" * 64, here.tokenizer_sha256) as write:
            write(table.rows(["one"] * 6))
    assert (tmp_path / "masks").read_bytes() == (tmp_path / "again").read_bytes()
    read = MaskTable.read(tmp_path / "masks", list(made))
    assert read.ids == table.ids
    assert read.tokenizer_sha256 == table.tokenizer_sha256
    for name in ("tokens", "row_offsets", "supervised", "is_chat"):
        assert getattr(read, name).tolist() == getattr(table, name).tolist(), name
    assert {name: mask.tolist() for name, mask in read.masks.items()} == {
        name: mask.tolist() for name, mask in made.items()
    }
    with pytest.raises(MaskingUnfit, match="no masking SM in the file, only unmasked, oracle"):
        MaskTable.read(tmp_path / "masks", ["SM"])


def test_runs_end_at_the_border_of_a_text() -> None:
    found = runs(np.array([True, True, True, False, True]), np.array([2, 0, 3]))
    assert found.pairs() == [[(0, 2)], [], [(0, 1), (2, 3)]]


def test_the_vocabulary_holds_no_part_of_a_labelled_value() -> None:
    data = scored(40)
    with_it = train_tokenizer(data.texts, 400).get_vocab()
    without = train_tokenizer(without_labels(data.documents), 400).get_vocab()
    assert any("Zq" in token for token in with_it)
    assert not any("Zq" in token or "Kd" in token for token in without)
