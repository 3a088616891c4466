"""All bundles of a Code PII corpus in their order, and its private values."""

from collections.abc import Iterator

from tasks.corpora.bundles.pool import Pool
from tasks.corpora.bundles.task import CodeTask
from tasks.corpora.code_pii.bundle import Bundle, make_bundle
from tasks.corpora.code_pii.config import CodePiiConfig
from tasks.corpora.code_pii.identities import PrivateSplit, PrivateValue, draw


def bundles(config: CodePiiConfig, pool: Pool, split: PrivateSplit) -> Iterator[Bundle]:
    """Make the bundles of a split, the first of every identity before the second of any.

    Raises:
        TooFewTasks: the split has fewer tasks than asked for, or too few families.
    """
    tasks = pool.first(split, len(getattr(pool, split)) if config.tasks is None or split != "train" else config.tasks)
    identities, each = _size(config, split)
    people = [draw(config.seed, split, number) for number in range(identities)]
    for number in range(each):
        for identity, values in enumerate(people):
            yield make_bundle(config.seed, split, identity, number, values, tasks)


def private_values(config: CodePiiConfig, split: PrivateSplit) -> list[PrivateValue]:
    """Return the values of a split by kind and identity."""
    people = [draw(config.seed, split, number) for number in range(_size(config, split)[0])]
    return [value for values in zip(*(person.values() for person in people), strict=True) for value in values]


def development(config: CodePiiConfig, pool: Pool) -> list[CodeTask]:
    """Return the tasks that utility is measured on.

    Raises:
        TooFewTasks: there are fewer than asked for.
    """
    return list(pool.first("development", config.development_tasks))


def _size(config: CodePiiConfig, split: PrivateSplit) -> tuple[int, int]:
    if split == "train":
        return config.identities, config.bundles
    return config.calibration_identities, config.calibration_bundles
