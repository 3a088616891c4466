"""Tasks that sum up rows and events."""

from tasks.corpora.bundles.draft import Draft, Family

Row = tuple[str, int]


def _totals(noun: str, reduce: str, least: int) -> Draft:
    told = {"sum": "sum", "max": "largest", "min": "smallest", "len": "number"}[reduce]

    def oracle(rows: list[Row]) -> dict[str, int]:
        names = dict.fromkeys(name for name, _ in rows)
        grouped = {name: [amount for other, amount in rows if other == name] for name in names}
        results = {
            name: {"sum": sum(a), "max": max(a), "min": min(a), "len": len(a)}[reduce] for name, a in grouped.items()
        }
        return {name: result for name, result in results.items() if result >= least}

    return Draft(
        f"total_by_{noun}(rows)",
        f"takes ({noun}, amount) rows and returns a dict with the {told} of the amounts of each {noun}; those below"
        f" {least} are left out.",
        f"sum up amounts by {noun}",
        f'''\
from collections import defaultdict
from collections.abc import Iterable


def total_by_{noun}(rows: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the {told} of the amounts of each {noun}."""
    groups: dict[str, list[int]] = defaultdict(list)
    for {noun}, amount in rows:
        groups[{noun}].append(amount)
    totals = dict((name, {reduce}(amounts)) for name, amounts in groups.items())
    return dict(pair for pair in totals.items() if pair[1] >= {least})
''',
        (f">= {least})", f"> {least})"),
        [
            ([("a", least), ("b", least + 2), ("a", 1), ("c", least - 1), ("b", 3)],),
            ([("x", 1)] * least + [("y", 4), ("y", 2)],),
            ([],),
            ([("p", least), ("q", 9), ("q", least)],),
        ],
        oracle,
    )


def _top(count: int, by: str, gives: str) -> Draft:
    key = {"high": "(-row[1], row[0])", "low": "(row[1], row[0])"}[by]
    final, kind = {
        "names": ("[name for name, score in ranked]", "list[str]"),
        "rows": ("ranked", "list[tuple[str, int]]"),
        "text": ('" ".join(name for name, score in ranked)', "str"),
    }[gives]
    told = {"names": "their names", "rows": "them", "text": "their names, joined by spaces"}[gives]

    def oracle(rows: list[Row]) -> object:
        left = sorted(rows)
        left.sort(key=lambda row: row[1], reverse=by == "high")
        best = left[:count]
        return {"names": [name for name, _ in best], "rows": best, "text": " ".join(name for name, _ in best)}[gives]

    return Draft(
        "rank(rows)",
        f"takes (name, score) rows, orders them by score, {by}est first, and by name where scores are equal, takes the"
        f" first {count} and returns {told}.",
        "rank scores",
        f'''\
def rank(rows: list[tuple[str, int]]) -> {kind}:
    """Return the {count} with the {by}est scores."""
    ordered = sorted(rows, key=lambda row: {key})
    ranked = ordered[:{count}]
    return {final}
''',
        (f"ordered[:{count}]", f"ordered[1:{count}]"),
        [
            ([("ann", 3), ("bob", 5), ("cid", 3), ("dan", 1), ("eve", 5), ("fay", 4), ("gus", 2)],),
            ([("z", 0), ("y", 0), ("x", 0)],),
            ([],),
            ([("m", -2), ("n", 7)],),
        ],
        oracle,
    )


def _stock(floor: int, unknown: str) -> Draft:
    guard, told = {
        "ignore": ("if name in stock:", "changes of items that are not in stock yet are ignored"),
        "add": ("if name:", "an item that is not in stock yet begins with 0"),
    }[unknown]

    def oracle(stock: dict[str, int], changes: list[Row]) -> dict[str, int]:
        result = dict(stock)
        for name, change in changes:
            if name in result or unknown == "add":
                result[name] = max([floor, result.get(name, 0) + change])
        return dict(sorted(result.items()))

    return Draft(
        "apply_changes(stock, changes)",
        "applies (item, change) pairs to a dict of amounts one after the other; no amount that changes falls"
        f" below {floor},"
        f" and {told}. Returns a new dict with the items by alphabet.",
        "keep a stock",
        f'''\
import copy


def apply_changes(stock: dict[str, int], changes: list[tuple[str, int]]) -> dict[str, int]:
    """Apply changes to amounts."""
    stock = copy.copy(stock)
    for name, change in changes:
        {guard}
            amount = stock.get(name, 0) + change
            stock[name] = max({floor}, amount)
    items = sorted(stock.items())
    return dict(items)
''',
        (f"max({floor}, amount)", f"max({floor + 1}, amount)"),
        [
            ({"nut": 9, "bolt": 20}, [("nut", -30), ("cap", 4), ("bolt", 1)]),
            ({"b": 30, "a": 7}, [("a", 2), ("a", -100), ("a", 40)]),
            ({}, [("new", -5)]),
            ({"k": 1}, []),
        ],
        oracle,
    )


def _windows(size: int, reduce: str, step: int) -> Draft:
    told = {"sum": "sum", "max": "largest", "min": "smallest"}[reduce]

    def oracle(numbers: list[int]) -> list[int]:
        starts = [n for n in range(len(numbers)) if n % step == 0 and n + size <= len(numbers)]
        windows = [sorted(numbers[n] for n in range(s, s + size)) for s in starts]
        return [{"sum": sum(window), "max": window[-1], "min": window[0]}[reduce] for window in windows]

    return Draft(
        "reduce_windows(numbers)",
        f"returns the {told} of every {size} consecutive numbers, beginning at every"
        f"{'' if step == 1 else ' ' + {2: 'second', 3: 'third'}[step]} number; windows that are not full are left out.",
        "smooth a series",
        f'''\
from itertools import islice


def reduce_windows(numbers: list[int]) -> list[int]:
    """Return the {told} of every {size} numbers."""
    last = len(numbers) - {size} + 1
    starts = range(0, max(last, 0), {step})
    return [{reduce}(islice(numbers, start, start + {size})) for start in starts]
''',
        (f"start + {size})", f"start + {size - 1})"),
        [([5, 1, 4, 2, 8, 3, 9, 0, 7],), ([3] * size,), ([1],), ([-2, 6, -5, 1, 1, 2, 10],), ([9, 8, 7, 6, 5, 4, 3],)],
        oracle,
    )


def _streak(condition: str, limit: int, gives: str) -> Draft:
    test, told = {
        "above": (f"number > {limit}", f"above {limit}"),
        "below": (f"number < {limit}", f"below {limit}"),
        "multiple": (f"number % {limit} == 0", f"multiples of {limit}"),
    }[condition]
    final, aim = {
        "length": ("longest", "the length of the longest run"),
        "start": ("begin", "the index at which the longest run begins, the first of several, -1 if there is none"),
    }[gives]

    def oracle(numbers: list[int]) -> int:
        def holds(n: int) -> bool:
            return {"above": n > limit, "below": n < limit, "multiple": n % limit == 0}[condition]

        runs = [
            (stop - start, -start)
            for start in range(len(numbers))
            for stop in range(start + 1, len(numbers) + 1)
            if all(map(holds, numbers[start:stop]))
        ]
        length, start = max(runs, default=(0, 1))
        return length if gives == "length" else -start

    return Draft(
        "longest_run(numbers)",
        f"looks for consecutive numbers that are {told} and returns {aim}.",
        "find the longest stretch of a kind",
        f'''\
def longest_run(numbers: list[int]) -> int:
    """Find the longest run of numbers {told}."""
    longest = 0
    begin = -1
    current = 0
    for index, number in enumerate(numbers):
        fits = {test}
        current = current + 1 if fits else 0
        if current > longest:
            longest = current
            begin = index - current + 1
    return {final}
''',
        ("current + 1 if", "current + 2 if") if gives == "length" else ("current > longest", "current >= longest"),
        [
            ([limit + 1, limit + 2, 0, limit * 2, limit * 3, limit * 2, -1, -2, -4],),
            ([limit - 1, limit - 2, limit + 5, limit - 1, 0, limit * 4, limit * 4],),
            ([],),
            ([limit, limit, limit + 1, limit * 2, limit - 1],),
            ([limit + 1, limit, limit + 1],),
            ([limit - 1, limit + 1, limit - 1],),
            ([limit, limit + 1, limit],),
        ],
        oracle,
    )


FAMILIES = (
    Family(
        "group-totals",
        {"noun": ("region", "month"), "reduce": ("sum", "max", "min", "len"), "least": (2, 3, 4, 5)},
        _totals,
    ),
    Family("ranking", {"count": (2, 3, 4, 5), "by": ("high", "low"), "gives": ("names", "rows", "text")}, _top),
    Family("stock", {"floor": (0, 1, 2, 3, 5, 10), "unknown": ("ignore", "add")}, _stock),
    Family("windows", {"size": (2, 3, 4), "reduce": ("sum", "max", "min"), "step": (1, 2, 3)}, _windows),
    Family(
        "runs",
        {"condition": ("above", "below", "multiple"), "limit": (2, 3, 4, 5, 6, 7), "gives": ("length", "start")},
        _streak,
    ),
)
