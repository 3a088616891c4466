"""Poisoning programs with dead code that changes nothing they do, after DePA's published procedure (SM appendix A.5).

MBPP (974 programs, 49 poisoned, 73 lines) calibrates; four attacks on HumanEval (164 programs, 8 poisoned each, 48
lines in all) are the application. Of the 49 insertions into MBPP 25 have one line and 24 have two, the only way to 73
lines when none has more. The paper's own MBPP row counts 49 targets, so its unit seems to be the insertion; HumanEval's
rows, 8. We report lines, and say so.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tasks.corpora.dead_code.places import insert, places
from tasks.corpora.dead_code.programs import Program
from tasks.corpora.dead_code.triggers import Style, Trigger, draw
from tasks.surprise.documents import Document, Interval

Passes = Callable[[str], bool]  # whether a program with its tests ends well


@dataclass(frozen=True)
class Attack:
    """How many programs get which dead code.

    Attributes:
        name: in tables, and the category of the labels.
        style: of the triggers.
        one_line: programs that get one line.
        two_lines: programs that get two.
    """

    name: str
    style: Style
    one_line: int
    two_lines: int


MBPP_ATTACK = Attack("random", "random", one_line=25, two_lines=24)
HUMANEVAL_ATTACKS = (
    Attack("fixed-1", "fixed", one_line=8, two_lines=0),
    Attack("grammar-1", "grammar", one_line=8, two_lines=0),
    Attack("fixed-2", "fixed", one_line=0, two_lines=8),
    Attack("grammar-2", "grammar", one_line=0, two_lines=8),
)


class TooFewPrograms(ValueError):
    """There are fewer programs that can be poisoned than an attack asks for."""


def poison(programs: Sequence[Program], attack: Attack, seed: int, passes: Passes) -> list[Document]:
    """Poison as many programs as the attack says, drawn at random, and leave the others as they are.

    A program is poisoned only if its tests pass before and after. The same seed gives the same documents.

    Args:
        programs: of a benchmark.
        attack: what to insert into how many.
        seed: of what is drawn: programs, triggers, places.
        passes: runs a program with its tests; whoever calls provides a sandbox.

    Returns:
        A document for each program, in their order, with a label for each line inserted and strata ``benchmark``,
        ``attack`` and ``poisoned`` (yes, no).

    Raises:
        TooFewPrograms: not enough of them pass their tests and have a place.
    """
    rng = random.Random(f"{seed} {attack.name}")
    two_lines = [False] * attack.one_line + [True] * attack.two_lines
    rng.shuffle(two_lines)
    poisoned: dict[str, Document] = {}
    for program in rng.sample(programs, len(programs)):
        if len(poisoned) == len(two_lines):
            break
        trigger = draw(attack.style, rng, two_lines=two_lines[len(poisoned)])
        document = _poisoned(program, attack, trigger, rng, passes)
        if document is not None:
            poisoned[program.id] = document
    if len(poisoned) < len(two_lines):
        raise TooFewPrograms(
            f"attack {attack.name}: {len(two_lines)} wanted, {len(poisoned)} of {len(programs)} programs can be"
            " poisoned: the others fail their tests or have no place for it"
        )
    return [poisoned.get(program.id) or _document(program, attack, _whole(program)) for program in programs]


def _poisoned(
    program: Program, attack: Attack, trigger: Trigger, rng: random.Random, passes: Passes
) -> Document | None:
    clean_code = _whole(program)
    fitting = [place for place in places(clean_code) if place.start >= len(program.given) and place.bears(trigger)]
    if not fitting:
        return None
    code, labels = insert(clean_code, rng.choice(fitting), trigger, attack.name)
    if not (passes(clean_code + program.tests) and passes(code + program.tests)):
        return None
    clean = _document(program, attack, code)
    return replace(clean, labels=labels, strata={**clean.strata, "poisoned": "yes"})


def _document(program: Program, attack: Attack, code: str) -> Document:
    benchmark = program.id.partition("/")[0]
    strata = {"benchmark": benchmark, "attack": attack.name, "poisoned": "no"}
    answer = Interval(len(program.given), len(code))
    return Document(f"{program.id}@{attack.name}", code, supervised=(answer,), labelled=True, strata=strata)


def _whole(program: Program) -> str:
    return program.given + program.answer
