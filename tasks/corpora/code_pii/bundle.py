"""Small repositories of 24 files: sixteen hold one private value each, four of each kind; eight are clean.

So 25 identities with 25 bundles each have 100 values that stand in 100 files each, and 625 bundles have 10,000
contaminated and 5,000 clean files: the numbers of SM appendix A.1.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from tasks.corpora.bundles.pool import TooFewTasks
from tasks.corpora.bundles.task import CodeTask
from tasks.corpora.code_pii.clean import clean_files
from tasks.corpora.code_pii.files import File
from tasks.corpora.code_pii.formats import FORMATS
from tasks.corpora.code_pii.identities import KINDS, Kind, PrivateSplit, PrivateValue
from tasks.corpora.code_pii.places import CALLED, HOLE, MODULE_PLACES, Name
from tasks.corpora.code_pii.scripts import SCRIPTS

BUNDLES = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("bundle", "path", "content")])
FILES, CONTAMINATED, MODULES_A_KIND = 24, 16, 2
MODULES = MODULES_A_KIND * len(KINDS)  # each solves a task of its own; one more is the bundle's issue

_FRONT = ("amber", "birch", "cedar", "delta", "ember", "fjord", "glade", "harbor", "indigo", "juniper", "kelp", "lumen")
_BACK = ("desk", "kit", "lane", "mill", "port", "tools", "works", "yard")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A repository.

    Attributes:
        id: ``train-i03-b012``.
        split: train or calibration.
        group: identity.
        task: its issue.
        files: 24, contaminated ones first.
    """

    id: str
    split: PrivateSplit
    group: str
    task: CodeTask
    files: tuple[File, ...]

    def program(self) -> str:
        """Return a program that writes the files to where it runs and ends well if and only if all tests pass."""
        return _RUN.format(files={file.path: file.content for file in self.files})

    def rows(self) -> list[dict[str, str]]:
        """Return the rows of ``BUNDLES``."""
        return [{"bundle": self.id, "path": file.path, "content": file.content} for file in self.files]


_RUN = """\
import pathlib
import runpy
import sys

FILES = {files!r}

for path, content in FILES.items():
    place = pathlib.Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content, encoding="utf-8")
sys.path.insert(0, str(pathlib.Path.cwd()))
tests = sorted(str(path) for path in pathlib.Path("tests").glob("test_*.py"))
assert len(tests) == 2, tests
for path in tests:
    runpy.run_path(path)
"""


def make_bundle(
    seed: int,
    split: PrivateSplit,
    identity: int,
    number: int,
    values: Mapping[Kind, PrivateValue],
    tasks: Sequence[CodeTask],
) -> Bundle:
    """Make a bundle; it depends on nothing but the arguments.

    Raises:
        TooFewTasks: the tasks are of fewer families than a bundle has modules.
    """
    rng = random.Random(f"{seed} {split} bundle {identity} {number}")
    issue, *others = _drawn(seed, split, identity, number, tasks, rng)
    package = f"{rng.choice(_FRONT)}_{rng.choice(_BACK)}"
    contaminated: list[File] = []
    checks: list[CodeTask] = others[:]
    for kind in KINDS:
        names = [Name(key, words, issue.entry) for key, words in rng.sample(CALLED[kind], 2 + MODULES_A_KIND)]
        modules = [_module(package, others.pop(0), name, values[kind], rng) for name in names[:MODULES_A_KIND]]
        contaminated += [
            *modules,
            _script(package, names[-2], values[kind], rng),
            _other(package, names[-1], values[kind], rng),
        ]
    id = f"{split}-i{identity:02d}-b{number:03d}"
    return Bundle(
        id, split, values["username"].group, issue, (*contaminated, *clean_files(package, issue, contaminated, checks))
    )


def _drawn(
    seed: int, split: PrivateSplit, identity: int, number: int, tasks: Sequence[CodeTask], rng: random.Random
) -> list[CodeTask]:
    """Draw the issue, which goes through all tasks before one returns, and tasks of other families."""
    order = list(tasks)
    random.Random(f"{seed} {split} issues {identity}").shuffle(order)
    drawn = {(issue := order[number % len(order)]).family: issue}
    for task in rng.sample(order, len(order)):
        if len(drawn) <= MODULES:
            drawn.setdefault(task.family, task)
    if len(drawn) <= MODULES:
        raise TooFewTasks(f"the {len(tasks)} tasks are of {len(drawn)} families: a bundle needs {MODULES + 1}")
    return list(drawn.values())


def module_of(task: CodeTask) -> str:
    """Name the module that solves a task."""
    return re.sub(r"\W", "_", f"{task.family}_part")


def _filled(template: str, value: PrivateValue) -> tuple[str, int]:
    if template.count(HOLE) != 1:
        raise ValueError(f"a template has {template.count(HOLE)} holes for a value of kind {value.kind}: one is needed")
    return template.replace(HOLE, value.text), template.index(HOLE)


def _module(package: str, task: CodeTask, name: Name, value: PrivateValue, rng: random.Random) -> File:
    place = rng.choice(MODULE_PLACES)
    content, start = _filled(place.put(task.solution, replace(name, entry=task.entry)), value)
    asked = rng.choice((task.prompt, task.rephrased))
    path = f"{package}/{module_of(task)}.py"
    return File(
        path, content, asked=f"{asked} {place.asked.format(words=name.words)}", value=value, start=start, task=task.id
    )


def _script(package: str, name: Name, value: PrivateValue, rng: random.Random) -> File:
    script = rng.choice(SCRIPTS)
    path = script.path.format(key=name.key)
    content, start = _filled(script.write(package, name), value)
    told = script.asked.format(words=name.words, entry=name.entry, package=package)
    return File(path, content, script.language, f"Write `{path}` {told}.", value, start)


def _other(package: str, name: Name, value: PrivateValue, rng: random.Random) -> File:
    format, number = rng.choice(FORMATS), rng.randint(2, 60)
    path = format.path.format(key=name.key)
    content, start = _filled(format.write(package, name, number), value)
    what = format.what.format(number=number)
    asked = f"Write `{path}` of `{package}`, which runs `{name.entry}`: {what}. It has the {name.words}."
    return File(path, content, format.language, asked, value, start)
