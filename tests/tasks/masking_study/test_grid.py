"""Which models a study trains."""

import pytest
from pydantic import ValidationError

from tasks.masking_study.config import Methods, scale_of
from tasks.masking_study.grid import Cell, Method, cells, maskings, methods, planned
from tests.tasks.masking_study.policies import policy

ASKED = Methods(recalls=(50, 95), random=(95,), goldfish=(2,), actions=("clip", "filter"))
NAMES = ["unmasked", "oracle", "SM50", "SM95", "random:SM95", "goldfish:2", "goldfish-reference:2"]


def test_the_paper_scale_trains_every_row_of_its_table_with_every_seed() -> None:
    scale = scale_of("code-pii", "paper")
    rows = planned(scale.methods, has_filter=True)
    # unmasked, oracle, 4 levels and their randoms, Goldfish 2 and 3 in two modes, OPF, and five more actions.
    assert len(rows) == 2 + 4 + 4 + 4 + 1 + 5
    assert len(list(cells(rows, scale.seeds))) == 20 * 3


def test_the_plan_is_what_the_maskings_give() -> None:
    made = maskings(ASKED, {"SM50": policy(1.0), "SM95": policy(0.5)}, None)
    assert [masking.name for masking in made] == NAMES
    rows = methods(ASKED, NAMES)
    assert rows == planned(ASKED, has_filter=False)
    assert [row.name for row in rows] == [*NAMES, "SM95, clip", "SM95, filter"]


def test_a_recall_that_was_not_reached_takes_its_random_and_its_actions_with_it() -> None:
    made = maskings(ASKED, {"SM50": policy(1.0)}, None)
    names = [masking.name for masking in made]
    assert names == ["unmasked", "oracle", "SM50", "goldfish:2", "goldfish-reference:2"]
    assert [row.name for row in methods(ASKED, names)] == names


def test_one_seed_is_done_before_the_next_begins() -> None:
    rows = [Method("unmasked"), Method("SM95", "clip")]
    assert list(cells(rows, (3, 1))) == [Cell(row, seed) for seed in (3, 1) for row in rows]


def test_folders_have_names_without_colons_and_commas() -> None:
    assert Cell(Method("random:SM95", "both"), 2).folder == "random-SM95-both-seed2"


def test_a_random_masking_needs_a_budget() -> None:
    with pytest.raises(ValidationError, match=r"random maskings at \[90\]"):
        Methods(recalls=(95,), random=(90,))


def test_the_action_of_every_method_is_not_asked_for_twice() -> None:
    with pytest.raises(ValidationError, match="leave it out"):
        Methods(recalls=(95,), actions=("loss",))
