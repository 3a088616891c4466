"""Judgements survive whatever happens to the process that took them."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flows.review.log import JudgementLog
from infra.shards.frames import JournalCorrupt
from tests.tasks.reviewing.small import judgement


def test_judgements_are_read_in_the_order_in_which_they_were_said(tmp_path: Path) -> None:
    log = JudgementLog(tmp_path / "judgements")
    said = [judgement("a", True), judgement("b", False, comment="<b>"), judgement("a", True, False)]
    log.append("ann", said[:1])
    log.append("ann", said[1:])
    assert JudgementLog(tmp_path / "judgements").read("ann") == said
    assert log.read("ben") == []


def test_a_torn_tail_is_cut_wherever_it_tears_and_writing_goes_on(tmp_path: Path) -> None:
    log = JudgementLog(tmp_path)
    log.append("ann", [judgement("a", True, True)])
    whole = (tmp_path / "ann.journal").read_bytes()
    log.append("ann", [judgement("b", True, True)])
    both = (tmp_path / "ann.journal").read_bytes()
    for end in range(len(whole), len(both)):
        (tmp_path / "ann.journal").write_bytes(both[:end])
        assert log.read("ann") == [judgement("a", True, True)]
        log.append("ann", [judgement("c", False, False)])
        assert [each.item for each in log.read("ann")] == ["a", "c"]


def test_damage_in_the_middle_is_told_and_not_cut(tmp_path: Path) -> None:
    log = JudgementLog(tmp_path)
    log.append("ann", [judgement("a", True, True), judgement("b", True, True)])
    data = bytearray((tmp_path / "ann.journal").read_bytes())
    data[20] ^= 1
    (tmp_path / "ann.journal").write_bytes(data)
    with pytest.raises(JournalCorrupt, match=r"ann\.journal"):
        log.read("ann")
    with pytest.raises(JournalCorrupt):
        log.append("ann", [judgement("c", True, True)])
    assert (tmp_path / "ann.journal").read_bytes() == data


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    log = JudgementLog(tmp_path)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda number: log.append("ann", [judgement(str(number), True, True)]), range(60)))
    assert {each.item for each in log.read("ann")} == {str(number) for number in range(60)}


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from flows.review.log import JudgementLog
from tasks.reviewing.judgements import Judgement
log = JudgementLog(Path(sys.argv[1]))
for number in range(10_000):
    log.append("ann", [Judgement(item=str(number), natural=True, coherent=True, at=datetime.now(UTC))])
    print(number, flush=True)
"""


def test_what_was_answered_for_before_a_kill_is_there(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(12)]
        writer.send_signal(signal.SIGKILL)
        told += [int(line) for line in writer.stdout if line.endswith("\n")]
    log = JudgementLog(tmp_path)
    kept = [int(each.item) for each in log.read("ann")]
    assert kept[: len(told)] == told
    log.append("ann", [judgement("after", True, True)])
    assert log.read("ann")[-1].item == "after"
