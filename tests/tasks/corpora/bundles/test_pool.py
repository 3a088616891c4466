import pytest

from tasks.corpora.bundles.draft import Draft, task_of
from tasks.corpora.bundles.pool import FAMILIES, TooFewTasks, own_tasks, pool_of
from tasks.corpora.bundles.task import CodeTask, shape

TASKS = own_tasks()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_solution_does_what_its_oracle_does_and_every_faulty_one_does_not(family: object) -> None:
    for task in (task for task in TASKS if task.family == family.name):  # type: ignore[attr-defined]
        exec(compile(task.check(), task.id, "exec"), {})


def test_there_are_enough_tasks_for_the_papers_corpora() -> None:
    pool = pool_of(TASKS, 0)
    assert len({task.id for task in TASKS}) == len(TASKS)
    assert len(pool.train) >= 600
    assert len(pool.development) >= 150
    assert len(pool.calibration) >= 30


def test_no_task_prompt_or_shape_of_one_split_is_in_another() -> None:
    pool = pool_of(TASKS, 3)
    for key in (lambda task: task.id, lambda task: task.prompt, lambda task: shape(task.solution)):
        seen = [{key(task) for task in split} for split in (pool.train, pool.calibration, pool.development)]
        assert len(set.union(*seen)) == sum(map(len, seen))
        assert sum(map(len, seen)) == len(pool.train) + len(pool.calibration) + len(pool.development)


def test_the_seed_decides_alone_whatever_the_order_of_the_tasks() -> None:
    assert pool_of(TASKS[::-1], 1) == pool_of(TASKS, 1)
    assert pool_of(TASKS, 2) != pool_of(TASKS, 1)


def test_a_task_of_the_shape_of_another_is_left_out() -> None:
    tasks = [
        CodeTask(f"t-{n}", "t", "", "", "f", f"def f{n}(a{n}):\n    return a{n} + {n // 2}\n", "", "") for n in range(8)
    ]
    pool = pool_of(tasks, 0)
    assert len(pool.train) + len(pool.calibration) + len(pool.development) == 4


def test_too_many_tasks_are_refused_with_how_many_there_are() -> None:
    pool = pool_of(TASKS, 0)
    assert pool.first("train", 5) == pool.train[:5]
    with pytest.raises(TooFewTasks, match=f"9999 tasks are asked for train, there are {len(pool.train)}"):
        pool.first("train", 9999)


def test_a_fault_must_stand_once() -> None:
    draft = Draft("f(x)", "does.", "do", "def f(x):\n    return x + x\n", ("x + x", "x"), [(1,)], lambda x: 2 * x)
    assert task_of("a-0", "a", draft).tests == "assert f(1) == 2\n"
    with pytest.raises(ValueError, match="task a-1: 'x' stands 3 times"):
        task_of("a-1", "a", Draft("f(x)", "", "", draft.solution, ("x", "y"), [], draft.oracle))
