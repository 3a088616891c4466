"""Tasks on intervals and slots of time."""

from tasks.corpora.bundles.draft import Draft, Family

Pairs = list[tuple[int, int]]


def _merge(gap: int, gives: str) -> Draft:
    told, final, kind = {
        "merged": ("the merged intervals in order", "merged", "list[tuple[int, int]]"),
        "length": ("the total length of the merged intervals", "sum(end - start for start, end in merged)", "int"),
        "count": ("how many merged intervals there are", "len(merged)", "int"),
        "longest": (
            "the length of the longest merged interval, 0 if there is none",
            "max((end - start for start, end in merged), default=0)",
            "int",
        ),
    }[gives]

    def oracle(pairs: Pairs) -> object:
        groups: list[list[tuple[int, int]]] = []
        for pair in sorted(pairs):
            if groups and pair[0] - max(end for _, end in groups[-1]) <= gap:
                groups[-1].append(pair)
            else:
                groups.append([pair])
        merged = [(group[0][0], max(end for _, end in group)) for group in groups]
        lengths = [end - start for start, end in merged]
        return {"merged": merged, "length": sum(lengths), "count": len(merged), "longest": max(lengths, default=0)}[
            gives
        ]

    near = "overlap or touch" if gap == 0 else f"overlap or are at most {gap} apart"
    return Draft(
        "merge_intervals(pairs)",
        f"merges intervals, given as (start, end) pairs of integers in any order, that {near}, and returns {told}.",
        "put intervals together",
        f'''\
from operator import itemgetter


def merge_intervals(pairs: list[tuple[int, int]]) -> {kind}:
    """Merge intervals that {near}."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(pairs, key=itemgetter(0)):
        if merged and start <= merged[-1][1] + {gap}:
            latest = max(merged[-1][1], end)
            merged[-1] = (merged[-1][0], latest)
        else:
            merged.append((start, end))
    return {final}
''',
        ("latest = max(merged[-1][1], end)", "latest = end"),
        [
            ([(0, 4), (4 + gap, 9), (20, 22), (1, 2)],),
            ([(10, 12), (1, 3), (12 + gap, 13), (14 + 2 * gap, 30)],),
            ([],),
            ([(5, 6), (0, 50), (30, 31), (7, 8)],),
        ],
        oracle,
    )


def _free(opening: int, closing: int, least: int) -> Draft:
    def oracle(busy: Pairs) -> Pairs:
        taken = {minute for start, end in busy for minute in range(start, end)}
        free: Pairs = []
        for hour in (hour for hour in range(opening, closing) if hour not in taken):
            if free and free[-1][1] == hour:
                free[-1] = (free[-1][0], hour + 1)
            else:
                free.append((hour, hour + 1))
        return [slot for slot in free if slot[1] - slot[0] >= least]

    return Draft(
        "free_slots(busy)",
        f"takes busy (start, end) hours in any order and returns the free ones between {opening} and"
        f" {closing} as (start,"
        f" end) pairs in order, at least {least} hour{'s' if least > 1 else ''} long.",
        "find gaps in a calendar",
        f'''\
from collections.abc import Iterable


def free_slots(busy: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Find the gaps between {opening} and {closing}."""
    free = []
    clock = {opening}
    for start, end in sorted(busy):
        gap = min(start, {closing}) - clock
        if gap >= {least}:
            free.append((clock, min(start, {closing})))
        clock = max(clock, end)
    rest = {closing} - clock
    if rest >= {least}:
        free.append((clock, {closing}))
    return free
''',
        (f"rest >= {least}", f"rest > {least}"),
        [
            ([(opening + 1, opening + 2), (opening + 4, closing - least)],),
            ([(opening - 2, opening + 1), (opening + 3, opening + 5), (opening + 2, opening + 4)],),
            ([],),
            ([(closing - 1, closing + 3), (opening, opening + 2)],),
        ],
        oracle,
    )


def _covered(rule: str, times: int) -> Draft:
    inside, told = {
        "half-open": ("start <= point < end", "from start up to, but not including, end"),
        "closed": ("start <= point <= end", "from start up to and including end"),
        "open": ("start < point < end", "strictly between start and end"),
    }[rule]

    def oracle(pairs: Pairs, points: list[int]) -> list[int]:
        def within(point: int, pair: tuple[int, int]) -> bool:
            low, high = pair[0] + (rule == "open"), pair[1] + (rule == "closed")
            return point in range(low, high)

        return [point for point in points if len([pair for pair in pairs if within(point, pair)]) >= times]

    return Draft(
        "covered_points(pairs, points)",
        f"returns those of the points, in their order, that lie in at least {times} of the intervals; an"
        " interval (start,"
        f" end) holds what is {told}.",
        "select points by the intervals over them",
        f'''\
def covers(pair: tuple[int, int], point: int) -> bool:
    """Tell whether an interval holds a point."""
    start, end = pair
    return {inside}


def covered_points(pairs: list[tuple[int, int]], points: list[int]) -> list[int]:
    """Select points that {times} intervals hold."""
    found = []
    for point in points:
        hits = sum(covers(pair, point) for pair in pairs)
        if hits >= {times}:
            found.append(point)
    return found
''',
        (f"hits >= {times}", f"hits > {times}"),
        [
            ([(0, 5), (2, 8), (5, 6), (4, 9), (1, 7)], [0, 1, 2, 4, 5, 6, 8, 9]),
            ([(1, 3)] * times, [0, 1, 2, 3, 4]),
            ([], [1, 2]),
            ([(0, 9), (3, 3), (2, 4)], [3, 2, 9]),
        ],
        oracle,
    )


def _busiest(tie: str, step: int) -> Draft:
    pick = {"first": "min", "last": "max"}[tie]

    def oracle(pairs: Pairs) -> int:
        starts = sorted(start - start % step for start, _ in pairs)
        counts = {bucket: starts.count(bucket) for bucket in starts}
        best = [bucket for bucket in counts if counts[bucket] == max(counts.values())]
        return best[0] if tie == "first" else best[-1]

    return Draft(
        "busiest_bucket(pairs)",
        f"puts intervals into buckets of width {step} by their start and returns the start of the bucket with most"
        f" intervals, the {tie} of several. There is at least one interval.",
        "find where most intervals begin",
        f'''\
from collections import Counter


def busiest_bucket(pairs: list[tuple[int, int]]) -> int:
    """Find the bucket in which most intervals start."""
    counts = Counter(start // {step} * {step} for start, end in pairs)
    most = max(counts.values())
    return {pick}(bucket for bucket, count in counts.items() if count == most)
''',
        (f"{pick}(bucket", f"{'max' if pick == 'min' else 'min'}(bucket"),
        [
            ([(0, 3), (step, step + 1), (step + 1, 99), (2 * step, 60), (2 * step + 1, 61)],),
            ([(1, 2)],),
            ([(3 * step, 99), (7 * step, 99), (5 * step, 99)],),
        ],
        oracle,
    )


FAMILIES = (
    Family("merge-intervals", {"gap": (0, 1, 2, 3, 5, 10), "gives": ("merged", "length", "count", "longest")}, _merge),
    Family("free-slots", {"opening": (7, 8, 9), "closing": (17, 18, 20), "least": (1, 2, 3)}, _free),
    Family("covered-points", {"rule": ("half-open", "closed", "open"), "times": (1, 2, 3, 4)}, _covered),
    Family("busiest-bucket", {"tie": ("first", "last"), "step": (5, 10, 15, 30, 60)}, _busiest),
)
