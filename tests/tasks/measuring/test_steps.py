import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infra.sandbox.run import Limits
from tasks.measuring import steps
from tasks.measuring.answers import AnswerSettings, Question
from tasks.measuring.extraction.attack import ExtractionSettings, attack, result_of
from tasks.measuring.extraction.targets import Split, Target
from tasks.measuring.sampling import Continuation, LocalSampler, Prompt, Sampling
from tests.tasks.measuring.parrot import Parrot

VALUES = 60  # three shards
SETTINGS = ExtractionSettings(samples=4, budgets=(1, 4))
TARGETS = [Target(f"v{place}", "k", "secret") for place in range(VALUES)]
SPLITS = [Split((place % 7, place % 5), (8, 9), None) for place in range(VALUES)]


@dataclass
class Counting:
    """A model that counts what it is asked for, and may end its process at a call."""

    fatal_call: int | None = None
    model: str = "parrot"
    seen: list[list[str]] = field(default_factory=list)

    def draw(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[list[Continuation]]:
        if len(self.seen) == self.fatal_call:
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen.append([prompt.id for prompt in prompts])
        parrot = Parrot(12, [(0, 0, 8, 9), (1, 1, 8, 9), (2, 2, 8)])
        return LocalSampler(parrot, self.model, ()).draw(prompts, sampling)


def attacked(output: Path, sampler: Counting, many: int = VALUES, **changes: object) -> object:
    settings = SETTINGS.model_copy(update=changes)
    return steps.attack_model(output, sampler, TARGETS[:many], SPLITS[:many], settings, None)


def test_a_killed_attack_goes_on_where_it_stood_and_ends_the_same(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        attacked(tmp_path / "m", Counting(fatal_call=1))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    rest, nothing = Counting(), Counting()
    result = attacked(tmp_path / "m", rest)
    assert rest.seen == [[f"v{place}" for place in range(25, 50)], [f"v{place}" for place in range(50, 60)]]
    whole = attack(Counting(), TARGETS, SPLITS, SETTINGS, start=None)
    assert result == result_of("parrot", SETTINGS, whole)
    assert attacked(tmp_path / "m", nothing) == result
    assert nothing.seen == []


def test_what_shapes_rows_makes_them_anew_and_what_shapes_figures_does_not(tmp_path: Path) -> None:
    attacked(tmp_path / "m", Counting())
    again = Counting()
    attacked(tmp_path / "m", again, budgets=(2,), most_distance=0.5)
    assert again.seen == []
    attacked(tmp_path / "m", again, seed=1)
    assert len(again.seen) == 3
    attacked(tmp_path / "m", other := Counting(model="another"), seed=1)
    assert len(other.seen) == 3


def test_a_folder_of_more_values_is_refused(tmp_path: Path) -> None:
    attacked(tmp_path / "m", Counting())
    with pytest.raises(steps.MeasuredOtherwise, match="attempts up to row 60, there are 30 now"):
        attacked(tmp_path / "m", Counting(), many=30)


QUESTIONS = [
    Question("a-0", "a", "Double.", "assert double(2) == 4"),
    Question("b-0", "b", "Halve.", "assert halve(2) == 1"),
]


@dataclass
class Known:
    """Answers what it is told to."""

    model: str = "known"
    calls: int = 0

    def answer(self, questions: Sequence[Question], settings: AnswerSettings) -> list[list[str]]:
        self.calls += 1
        assert questions == QUESTIONS
        return [["double = lambda x: 2 * x", "double = 1"], ["halve = lambda x: x", "halve ="]][: settings.samples]


def test_answers_are_asked_for_once_and_judged_once(tmp_path: Path) -> None:
    known, settings, limits = Known(), AnswerSettings(samples=2), Limits(wall_s=20, cpu_s=5)
    for _ in range(2):
        answers = steps.write_answers(tmp_path / "m", known, QUESTIONS, settings)
        judged = steps.judge_answers(tmp_path / "m", answers, QUESTIONS, limits, workers=2)
    assert known.calls == 1
    assert [[verdict.ending for verdict in each.verdicts] for each in judged] == [
        ["passed", "error"],
        ["assertion", "syntax"],
    ]
    first = (tmp_path / "m" / "verdicts" / "part-00000000-00000002.parquet").stat().st_mtime_ns
    steps.judge_answers(
        tmp_path / "m", answers | {"b-0": ["halve = lambda x: x / 2", ""]}, QUESTIONS, limits, workers=2
    )
    assert (tmp_path / "m" / "verdicts" / "part-00000000-00000002.parquet").stat().st_mtime_ns > first
