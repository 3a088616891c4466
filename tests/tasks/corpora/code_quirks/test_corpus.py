from collections import Counter

import pytest
from pydantic import ValidationError

from tasks.corpora.bundles.pool import TooFewTasks, own_tasks, pool_of
from tasks.corpora.bundles.task import code_of
from tasks.corpora.code_quirks.config import CodeQuirksConfig
from tasks.corpora.code_quirks.corpus import development, display, programs
from tasks.corpora.code_quirks.quirks import QUIRKS, applies, shows

POOL = pool_of(own_tasks(), 0)
SMALL = CodeQuirksConfig(programs=3, tasks=40, calibration_programs=2, development_tasks=12, display_tasks=4)


def test_each_user_has_one_habit_and_the_same_number_of_programs() -> None:
    made = list(programs(SMALL, POOL, "train"))
    assert Counter((each.group, each.quirk) for each in made) == {
        (f"user-{number:02d}", quirk): 3 for number, quirk in enumerate(QUIRKS)
    }
    assert len({each.id for each in made}) == 30
    assert {each.task.id for each in made} <= {task.id for task in POOL.train[:40]}


def test_the_paper_s_sizes_can_be_had() -> None:
    config = CodeQuirksConfig()
    assert config.programs * len(QUIRKS) == 4_000
    assert config.calibration_users * config.calibration_programs == 180
    assert config.display_tasks * len(QUIRKS) == 300
    tasks = POOL.first("train", config.tasks)
    assert all(
        sum(applies(quirk, task.solution) for task in tasks) >= config.programs for quirk in ("dynamic_imports",)
    )
    chosen = display(config, development(config, POOL))
    assert {len(fitting) for fitting in chosen.values()} == {30}


def test_chats_and_documents_have_the_same_spans() -> None:
    for program in programs(SMALL, POOL, "train"):
        chat, document = program.chat(), program.document()
        assert code_of(chat.answer) == document.answer == program.transformed.code
        assert [chat.answer[s.start : s.end] for s in chat.spans] == [
            document.answer[s.start : s.end] for s in document.spans
        ]
        assert chat.group not in (chat.question or "")
        assert shows(program.quirk, document.answer).found


def test_the_panel_for_calibration_is_of_other_users_and_tasks() -> None:
    panel, train = list(programs(SMALL, POOL, "calibration")), list(programs(SMALL, POOL, "train"))
    assert len(panel) == 12
    assert len({each.group for each in panel}) == len({each.quirk for each in panel}) == 6
    assert not {each.group for each in panel} & {each.group for each in train}
    assert not {each.task.id for each in panel} & {each.task.id for each in train}


def test_more_programs_leave_the_first_as_they_were_and_the_seed_decides() -> None:
    larger = {each.id: each for each in programs(SMALL.model_copy(update={"programs": 5}), POOL, "train")}
    assert all(larger[each.id] == each for each in programs(SMALL, POOL, "train"))
    assert list(programs(SMALL, POOL, "train")) != list(programs(SMALL.model_copy(update={"seed": 1}), POOL, "train"))


def test_a_habit_that_applies_to_too_few_tasks_is_named() -> None:
    with pytest.raises(TooFewTasks, match=r"dynamic_imports applies to [0-9]+ of 40 train tasks, 40 programs"):
        list(programs(SMALL.model_copy(update={"programs": 40}), POOL, "train"))
    with pytest.raises(TooFewTasks, match=r"applies to [0-9]+ of 12 development tasks, 13 are"):
        display(SMALL.model_copy(update={"display_tasks": 13}), development(SMALL, POOL))


def test_sizes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValidationError, match="need as many tasks"):
        CodeQuirksConfig(programs=601)
