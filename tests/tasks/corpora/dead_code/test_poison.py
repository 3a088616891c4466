from collections import Counter
from pathlib import Path

import pytest

from infra.sandbox.run import Limits, run_python
from tasks.corpora.dead_code.poison import HUMANEVAL_ATTACKS, MBPP_ATTACK, Attack, TooFewPrograms, poison
from tasks.corpora.dead_code.programs import Program, read_humaneval, read_mbpp
from tests.tasks.corpora.files import write_gzip, write_lines

CODE = "def f{n}(x):\r\n\ty = x + {n}\r\n\treturn y"
GIVEN = "# Add a number: assert f(1) == 1 + number\n"
PROGRAMS = [Program(f"MBPP/{n}", GIVEN, CODE.format(n=n), f"\nassert f{n}(1) == {n + 1}\n") for n in range(12)]
SMALL = Attack("small", "grammar", one_line=2, two_lines=3)


def always(program: str) -> bool:
    return True


def test_as_many_programs_are_poisoned_as_asked_for_and_the_others_left_alone() -> None:
    documents = poison(PROGRAMS, SMALL, seed=0, passes=always)
    assert [document.id for document in documents] == [f"MBPP/{n}@small" for n in range(12)]
    assert all(document.labelled for document in documents)
    clean = [document for document in documents if document.strata["poisoned"] == "no"]
    assert len(clean) == 7
    codes = {f"{program.id}@small": GIVEN + program.answer for program in PROGRAMS}
    assert all(document.text == codes[document.id] and not document.labels for document in clean)
    assert Counter(len(document.labels) for document in documents) == {0: 7, 1: 2, 2: 3}


def test_the_seed_decides_alone() -> None:
    assert poison(PROGRAMS, SMALL, 3, always) == poison(PROGRAMS, SMALL, 3, always)
    assert poison(PROGRAMS, SMALL, 3, always) != poison(PROGRAMS, SMALL, 4, always)


def test_programs_that_fail_their_tests_before_or_after_are_not_poisoned() -> None:
    broken = [Program(program.id, GIVEN, program.answer, "\nassert False") for program in PROGRAMS[:6]]

    def passes(program: str) -> bool:
        return run_python(program, Limits()).kind == "passed"

    documents = poison([*broken, *PROGRAMS[6:]], SMALL, 0, passes)
    poisoned = [document.id for document in documents if document.labels]
    assert len(poisoned) == 5
    assert not set(poisoned) & {f"{program.id}@small" for program in broken}
    for document, program in zip(documents[6:], PROGRAMS[6:], strict=True):
        assert passes(document.text + program.tests)
    with pytest.raises(TooFewPrograms, match="5 wanted, 0 of 12"):
        poison(PROGRAMS, SMALL, 0, lambda program: "logging" not in program)


def test_the_attacks_have_the_published_sizes() -> None:
    def size(attack: Attack) -> tuple[int, int]:
        return attack.one_line + attack.two_lines, attack.one_line + 2 * attack.two_lines

    assert size(MBPP_ATTACK) == (49, 73)
    assert [size(attack)[0] for attack in HUMANEVAL_ATTACKS] == [8, 8, 8, 8]
    assert sum(size(attack)[1] for attack in HUMANEVAL_ATTACKS) == 48


def test_both_benchmarks_are_read_with_tests_that_run(tmp_path: Path) -> None:
    code = "import sys\r\ndef double(x):\r\n  return 2 * x\r"
    mbpp = {
        "text": "Double.", "code": code, "task_id": 7, "test_setup_code": "one = 1", "challenge_test_list": [],
        "test_list": ["assert double(one) == 2", "assert double(3) == 6"],
    }  # fmt: skip
    humaneval = {
        "task_id": "HumanEval/0", "prompt": "def double(x):\n    '''Double.'''\n", "entry_point": "double",
        "canonical_solution": "    return 2 * x\n", "test": "def check(candidate):\n    assert candidate(2) == 4\n",
    }  # fmt: skip
    write_lines(tmp_path / "mbpp.jsonl", [mbpp, {"task_id": "x"}])
    write_gzip(tmp_path / "HumanEval.jsonl.gz", [humaneval])
    one, two = read_mbpp(tmp_path), read_humaneval(tmp_path)
    assert (one.programs[0].id, one.programs[0].answer, len(one.rejects)) == ("MBPP/7", code, 1)
    assert one.programs[0].given == "# Double.\n# assert double(one) == 2\n# assert double(3) == 6\n"
    assert (two.programs[0].id, two.programs[0].given + two.programs[0].answer) == (
        "HumanEval/0", "def double(x):\n    '''Double.'''\n    return 2 * x\n",
    )  # fmt: skip
    for program in (one.programs[0], two.programs[0]):
        assert run_python(program.given + program.answer + program.tests, Limits()).kind == "passed"
        wrong = program.answer.replace("2 *", "3 *")
        assert run_python(program.given + wrong + program.tests, Limits()).kind == "failed"


def test_only_the_answer_is_poisoned_and_counted() -> None:
    given = "def f(x):\n    '''Add.'''\n    x = x + 0\n"
    programs = [Program(f"HumanEval/{n}", given, "    return x\n", "") for n in range(5)]
    for document in poison(programs, SMALL, 0, always):
        assert [(part.start, part.end) for part in document.supervised or ()] == [(len(given), len(document.text))]
        assert document.text.startswith(given)
        assert all(label.start >= len(given) for label in document.labels)
