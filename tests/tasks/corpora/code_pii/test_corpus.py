import ast
from collections import Counter
from dataclasses import replace
from itertools import chain

import pytest

from infra.sandbox.run import Limits, run_python
from tasks.corpora.bundles.pool import Pool, TooFewTasks, own_tasks, pool_of
from tasks.corpora.bundles.task import code_of
from tasks.corpora.code_pii.bundle import FILES, Bundle
from tasks.corpora.code_pii.config import CodePiiConfig
from tasks.corpora.code_pii.corpus import bundles, development, private_values
from tasks.corpora.code_pii.examples import CHATS_A_BUNDLE, chats, documents
from tasks.corpora.code_pii.values import occurrences

POOL = pool_of(own_tasks(), 0)
SMALL = CodePiiConfig(identities=3, bundles=2, calibration_identities=2, calibration_bundles=1, development_tasks=4)


@pytest.fixture(scope="module")
def papers() -> list[Bundle]:
    return list(bundles(CodePiiConfig(), POOL, "train"))


def test_the_defaults_are_the_papers_numbers(papers: list[Bundle]) -> None:
    asked = list(chain.from_iterable(map(chats, papers)))
    texts = list(chain.from_iterable(map(documents, papers)))
    assert (len(papers), {len(bundle.files) for bundle in papers}) == (625, {24})
    assert Counter(each.kind for each in asked) == {
        "contaminated": 10_000,
        "clean_implementation": 625,
        "clean_repair": 625,
    }
    assert Counter(each.kind for each in texts) == {"contaminated": 10_000, "clean": 5_000}
    for examples in (asked, texts):
        assert len({each.id for each in examples}) == len(examples)
        counts = occurrences(examples)
        assert (len(counts), set(counts.values())) == (100, {100})
    kinds = Counter(value.kind for value in private_values(CodePiiConfig(), "train"))
    assert kinds == {"username": 25, "workspace": 25, "account_id": 25, "recovery": 25}


def test_the_calibration_sets_have_the_papers_sizes_and_other_identities(papers: list[Bundle]) -> None:
    panel = list(bundles(CodePiiConfig(), POOL, "calibration"))
    assert (len(panel) * CHATS_A_BUNDLE, len(panel) * FILES) == (540, 720)
    assert not {bundle.group for bundle in panel} & {bundle.group for bundle in papers}
    assert not {bundle.task.id for bundle in panel} & {bundle.task.id for bundle in papers}
    train = {value.text for value in private_values(CodePiiConfig(), "train")}
    assert not train & {value.text for value in private_values(CodePiiConfig(), "calibration")}


def test_labels_are_the_values_and_nothing_else_holds_one(papers: list[Bundle]) -> None:
    texts = {value.id: value for value in private_values(CodePiiConfig(), "train")}
    for bundle in papers[::25]:
        own = [value.text for value in texts.values() if value.group == bundle.group]
        for example in chain(chats(bundle), documents(bundle)):
            found = [(span.value, example.answer[span.start : span.end]) for span in example.spans]
            assert found == [(id, texts[id].text) for id, _ in found if id]
            assert len(found) == (example.kind == "contaminated")
            assert all(
                texts[id].group == example.group and texts[id].kind == example.spans[0].kind for id, _ in found if id
            )
            assert sum(example.answer.count(text) for text in own) == len(found)
            assert not any(text in (example.question or "") for text in own)


def test_a_row_has_its_spans_twice_once_as_labels() -> None:
    bundle = next(bundles(SMALL, POOL, "train"))
    chat, document = next(chats(bundle)).row(), next(documents(bundle)).row()
    (span,) = chat["spans"]
    (label,) = chat["messages"][1]["labels"]
    assert (chat["messages"][0]["labels"], span["message"]) == ([], 1)
    assert (span["start"], span["end"], span["kind"]) == (label["start"], label["end"], label["category"])
    assert (
        chat["messages"][1]["content"][label["start"] : label["end"]]
        == document["text"][document["labels"][0]["start"] : document["labels"][0]["end"]]
    )


def test_tests_may_use_what_a_solution_of_ones_own_imports() -> None:
    first = next(iter(bundles(SMALL, POOL, "train")))
    tasks = [
        replace(
            task, solution=f"import math as m\n\n\n{task.solution}", tests=f"{task.tests}assert m.floor(1.5) == 1\n"
        )
        for task in POOL.train
    ]
    bundle = next(iter(bundles(SMALL, Pool(tasks, POOL.calibration, POOL.development), "train")))
    assert bundle.id == first.id
    outcome = run_python(bundle.program(), Limits())
    assert outcome.kind == "passed", outcome.stderr


def test_a_larger_corpus_has_the_rows_of_a_smaller_one() -> None:
    larger = SMALL.model_copy(update={"identities": 5, "bundles": 4, "development_tasks": 9})
    rows = {bundle.id: bundle for bundle in bundles(larger, POOL, "train")}
    assert all(rows[bundle.id] == bundle for bundle in bundles(SMALL, POOL, "train"))
    longer = list(bundles(SMALL.model_copy(update={"bundles": 4}), POOL, "train"))
    assert longer[:6] == list(bundles(SMALL, POOL, "train"))  # in the same order, too
    assert development(larger, POOL)[:4] == development(SMALL, POOL)


def test_the_seed_decides() -> None:
    other = SMALL.model_copy(update={"seed": 1})
    assert list(bundles(SMALL, POOL, "train")) == list(bundles(SMALL, POOL, "train"))
    assert list(bundles(SMALL, POOL, "train")) != list(bundles(other, POOL, "train"))


def test_bundles_pass_their_tests_and_fail_with_another_solution(papers: list[Bundle]) -> None:
    for bundle in (papers[3], papers[400]):
        assert run_python(bundle.program(), Limits(wall_s=60)).kind == "passed"
        core = next(file for file in bundle.files if file.path.endswith("/core.py"))
        spoilt = bundle.program().replace(repr(core.content), repr(bundle.task.broken), 1)
        assert spoilt != bundle.program()
        assert run_python(spoilt, Limits(wall_s=60)).kind == "failed"


def test_python_of_contaminated_answers_is_python(papers: list[Bundle]) -> None:
    for bundle in papers[::50]:
        for chat in chats(bundle):
            if chat.answer.startswith("```python"):
                ast.parse(code_of(chat.answer))


def test_repairs_show_the_faulty_solution_and_give_the_right_one() -> None:
    bundle = next(bundles(SMALL, POOL, "train"))
    repair = list(chats(bundle))[-1]
    assert repair.kind == "clean_repair"
    assert code_of(repair.question or "") == bundle.task.broken
    assert code_of(repair.answer) == bundle.task.solution


def test_training_can_draw_from_fewer_tasks_but_not_of_too_few_families() -> None:
    few = SMALL.model_copy(update={"tasks": 60})
    used = {file.task for bundle in bundles(few, POOL, "train") for file in bundle.files if file.task}
    assert used <= {task.id for task in POOL.train[:60]}
    narrow = Pool(
        [task for task in POOL.train if task.family in ("slugs", "tables")], POOL.calibration, POOL.development
    )
    with pytest.raises(TooFewTasks, match="of 2 families: a bundle needs 9"):
        next(bundles(SMALL, narrow, "train"))
