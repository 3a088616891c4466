from functools import partial

import pytest

from infra.sandbox.run import Limits, run_python
from tasks.measuring.utility.passing import Judged, Verdict, judge_answer, passing

TESTS = "assert double(2) == 4\nassert double(-1) == -2\n"
RUN = partial(run_python, limits=Limits(wall_s=20, cpu_s=5))


@pytest.mark.parametrize(
    ("answer", "ending", "detail"),
    [
        ("def double(x):\n    return 2 * x\n", "passed", ""),
        ("Here it is:\n```python\ndef double(x):\n    return 2 * x\n```\nWell?", "passed", ""),
        ("def double(x):\n    return x * x\n", "assertion", ""),
        ("def twice(x):\n    return 2 * x\n", "error", "NameError"),
        ("def double(x:\n    return 2 * x\n", "syntax", ""),
        ("I cannot say.", "syntax", ""),
        ("x = '\\0'\0", "syntax", ""),
        ("import sys\nsys.exit(0)\n", "left_early", ""),
        ("import os\nos._exit(0)\n", "left_early", ""),
        ("import os\nos.abort()\n", "killed", ""),
        ("def double(x):\n    raise MemoryError\n", "memory", ""),
        # A script's own start stays still, and a dataclass finds its module.
        ("def double(x):\n    return 2 * x\nif __name__ == '__main__':\n    raise SystemExit\n", "passed", ""),
        (
            "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
            "def double(x):\n    return A(x).x * 2\n",
            "passed",
            "",
        ),
        ("print('passed' * 30000)\ndef double(x):\n    return 2 * x\n", "passed", ""),
    ],
)
def test_answers_end_as_they_should(answer: str, ending: str, detail: str) -> None:
    verdict = judge_answer(answer, TESTS, RUN)
    assert (verdict.ending, verdict.detail) == (ending, detail)
    assert verdict.seconds > 0


def test_an_answer_that_goes_on_for_ever_is_stopped() -> None:
    quick = partial(run_python, limits=Limits(wall_s=20, cpu_s=1))
    assert judge_answer("while True:\n    pass\n", TESTS, quick).ending == "time"


def judged(name: str, *endings: str) -> Judged:
    return Judged(name, name, tuple(Verdict(each, "", 0.1) for each in endings))  # type: ignore[arg-type]


def test_pass_rates_count_prompts() -> None:
    found = passing(
        [judged("a", "syntax", "passed", "time"), judged("b", "time", "time", "time"), judged("c", *["passed"] * 3)], 3
    )
    assert [rate.first.count for rate in found.rates] == [1, 2, 2]
    # a: one of three passes: 1/3, 2/3, 1; b: never; c: always.
    assert [rate.expected for rate in found.rates] == pytest.approx([4 / 9, 5 / 9, 2 / 3])
    assert found.endings == {"passed": 4, "syntax": 1, "time": 4}


def test_fewer_answers_than_k_are_refused() -> None:
    with pytest.raises(ValueError, match="0 successes in 1 tries, 2 of them"):
        passing([judged("a", "time")], 2)
