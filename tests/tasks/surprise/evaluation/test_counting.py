"""One text of two lines, ``ab = 1`` and ``k = xyz``; tokens of one or two characters, levels by hand."""

import math

import numpy as np

from tasks.surprise.baselines.methods import CharacterLevels, Material, TokenLevels
from tasks.surprise.documents import Document, Interval, Label
from tasks.surprise.evaluation.counting import Tally, tally
from tasks.surprise.evaluation.distribution import Distribution
from tasks.surprise.evaluation.results import result_of
from tasks.surprise.metrics import Counts
from tasks.surprise.policy import Unit
from tasks.surprise.procedure import Batch
from tasks.surprise.project import touched
from tasks.surprise.rules import GlobalRule
from tasks.surprise.spans import Spans
from tests.tasks.surprise.batches import tokens_of

TEXT = "ab = 1\nk = xyz"
SPANS = [(0, 2), (2, 5), (5, 7), (7, 11), (11, 13), (13, 14)]  # ab| = |1\n|k = |xy|z
LEVELS = [1.0, 0.0, 2.0, 0.5, 3.0, 4.0]


def material(supervised: tuple[Interval, ...] | None = None, *, labels: tuple[Label, ...]) -> Material:
    tokens = tokens_of([[1, 2, 3, 4, 5, 6]], [SPANS])
    kept = [(0, len(TEXT))] if supervised is None else [(part.start, part.end) for part in supervised]
    batch = Batch(tokens, np.array(LEVELS), touched(tokens, Spans.of([kept])), [TEXT])
    return Material([Document("d", TEXT, supervised=supervised, labels=labels, labelled=True)], batch)


SECRET, NUMBER = Label(11, 14, "secret"), Label(5, 6, "number")


def counted(given: Material, unit: Unit) -> Tally:
    assert given.batch is not None
    levels = np.where(given.batch.supervised, LEVELS, -math.inf)
    return tally(given, TokenLevels(given.batch.tokens, levels, given.lengths), unit)


def test_characters_have_the_levels_of_their_tokens() -> None:
    units = counted(material(labels=(SECRET,)), "character").units
    assert units.levels.tolist() == [1, 1, 0, 0, 0, 2, 2, 0.5, 0.5, 0.5, 0.5, 3, 3, 4]
    assert units.target.tolist() == [False] * 11 + [True] * 3


def test_a_line_is_masked_once_all_its_tokens_are_and_a_target_by_one_character() -> None:
    units = counted(material(labels=(SECRET,)), "line").units
    assert units.levels.tolist() == [0.0, 0.5]
    assert units.target.tolist() == [False, True]


def test_a_completion_is_the_supervised_part_and_what_lies_outside_does_not_hold_it_back() -> None:
    part = material((Interval(7, 14),), labels=(SECRET,))
    units = counted(part, "completion").units
    assert (units.levels.tolist(), units.target.tolist()) == ([0.5], [True])
    assert counted(part, "line").units.levels.tolist() == [0.5]  # the first line may not be masked: it does not count
    assert counted(part, "character").units.levels.size == 7
    assert counted(part, "token").units.levels.tolist() == [0.5, 3.0, 4.0]


def test_a_document_without_a_maskable_token_is_a_completion_only_if_some_of_it_may_be_masked() -> None:
    nothing = Material([Document("d", TEXT, supervised=(), labelled=True)], material(labels=()).batch)
    assert nothing.batch is not None
    unsupervised = Batch(nothing.batch.tokens, nothing.batch.scores, np.zeros(6, dtype=np.bool_), [TEXT])
    empty = Material(nothing.documents, unsupervised)
    assert counted(empty, "completion").units.levels.size == 0


def test_character_levels_reach_the_tokens_that_share_a_character() -> None:
    given = material(labels=(SECRET,))
    levels = CharacterLevels(np.array([-math.inf] * 12 + [1.0, -math.inf]), given.lengths)
    assert tally(given, levels, "token").units.levels.tolist() == [-math.inf] * 4 + [1.0, -math.inf]


def test_each_category_leaves_the_others_out() -> None:
    tallied = counted(material(labels=(SECRET, NUMBER)), "character")
    result = result_of("SM", Distribution.of(tallied), GlobalRule(), 2.0)
    # masked: characters 5, 6 (level 2) and 11 to 13; targets 5 and 11 to 13
    assert result.overall.counts == Counts(true_positives=4, false_positives=1, false_negatives=0, true_negatives=9)
    assert result.categories["secret"].counts == Counts(
        true_positives=3, false_positives=1, false_negatives=0, true_negatives=9
    )
    assert result.categories["number"].counts == Counts(
        true_positives=1, false_positives=1, false_negatives=0, true_negatives=9
    )
    assert result.categories["secret"].auroc == 1.0
    assert result.overall.auroc == (3 * 10 + 9.5) / 40  # the number ties with the line end behind it


def test_a_fixed_method_masks_what_has_a_level() -> None:
    given = material(labels=(SECRET,))
    levels = CharacterLevels(np.array([-math.inf] * 10 + [1.0] * 4), given.lengths)
    counts = result_of("detector", Distribution.of(tally(given, levels, "character")), None, None).overall.counts
    assert counts == Counts(true_positives=3, false_positives=1, false_negatives=0, true_negatives=10)


def test_a_label_outside_supervision_makes_no_target_of_a_piece_that_reaches_inside() -> None:
    asked = Label(7, 8, "name")  # said before the answer, in the same line
    given = material((Interval(0, 2), Interval(11, 14)), labels=(asked,))
    for unit, pieces in (("line", 2), ("completion", 1)):  # the completion reaches across what the user says
        tallied = counted(given, unit)  # type: ignore[arg-type]
        assert tallied.units.target.tolist() == [False] * pieces
        assert tallied.categories["name"].tolist() == [False] * pieces
    both = material((Interval(0, 2), Interval(11, 14)), labels=(asked, SECRET))
    assert counted(both, "line").units.target.tolist() == [False, True]
