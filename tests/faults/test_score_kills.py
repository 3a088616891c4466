"""Scoring dies at any text, the same run is given again, and no text of a finished batch is scored again."""

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from infra.shards.verify import verify
from tasks.surprise.scoring.scorer import PLAIN, Pass, Scored, Text
from tests.faults.forked import FORKED
from tests.tasks.surprise.character_scorer import CharacterScorer
from tests.tasks.surprise.small_scoring import Run, jsonl

pytestmark = pytest.mark.faults

PASSES = (PLAIN, Pass("prompted", "look:"))
TEXTS = [f"text {place % 17} {'x' * (place % 5)}" for place in range(40)]  # some of them twice
ROWS: list[object] = [{"text": text} for text in TEXTS] + [b"no row"]


class KilledScorer(CharacterScorer):
    """Writes down each text as it is scored, and kills its process after so many."""

    def __init__(self, notes: Path, lives: int) -> None:
        super().__init__()
        self._notes = notes
        self._lives = lives

    def score(self, texts: Sequence[Text], passes: Sequence[Pass]) -> Iterator[Scored]:
        for text, scored in zip(texts, super().score(texts, passes), strict=True):
            if self._lives == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            self._lives -= 1
            with self._notes.open("a") as notes:
                notes.write(f"{text.text}\n")
            yield scored


def run_of(file: Path, lives: int = 1_000_000) -> Run:
    return Run(
        file, size=16, passes=PASSES, batch_characters=30, scorer=KilledScorer(file.with_suffix(".notes"), lives)
    )


def score(run: Run) -> None:
    run.score()


@pytest.mark.parametrize("lives", [0, 1, 6, 13, 14, 20, 30])
def test_killed_while_it_scores_a_run_repeats_one_batch_at_most(tmp_path: Path, lives: int) -> None:
    file = jsonl(tmp_path / "in.jsonl", ROWS)
    undisturbed = run_of(jsonl(tmp_path / "undisturbed" / "in.jsonl", ROWS))
    undisturbed.score()
    for code, each in ((-signal.SIGKILL, run_of(file, lives)), (0, run_of(file))):
        process = FORKED.Process(target=score, args=(each,))
        process.start()
        process.join(60)
        assert process.exitcode == code
    again = run_of(file)
    assert repr(again.tables()) == repr(undisturbed.tables())
    assert verify(again.job.store()) == []
    read, expected = (each.with_suffix(".notes").read_text().splitlines() for each in (file, undisturbed.file))
    repeated = len(read) - len(expected)
    assert 0 <= repeated <= 3  # of about ten characters each, in a batch of thirty
    assert read[:lives] == expected[:lives]
    assert read[lives:] == expected[lives - repeated :]
