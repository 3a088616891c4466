"""Tasks on lists."""

from tasks.corpora.bundles.draft import Draft, Family


def _chunks(size: int, rest: str) -> Draft:
    final, told = {
        "keep": ("parts", "the last may be shorter"),
        "drop": (f"[part for part in parts if len(part) == {size}]", "what is left over is dropped"),
        "pad": (f"[part + [0] * ({size} - len(part)) for part in parts]", "the last is filled up with zeros"),
    }[rest]

    def oracle(items: list[int]) -> list[list[int]]:
        left, parts = list(items), []
        while left:
            parts.append([left.pop(0) for _ in range(min(size, len(left)))])
        if parts and len(parts[-1]) < size and rest != "keep":
            last = parts.pop()
            parts += [last + [0] * (size - len(last))] if rest == "pad" else []
        return parts

    return Draft(
        "split_items(items)",
        f"splits a list of numbers into lists of {size}; {told}.",
        "cut a list into pieces",
        f'''\
def split_items(items: list[int]) -> list[list[int]]:
    """Cut a list into pieces of {size}."""
    starts = range(0, len(items), {size})
    parts = [items[start : start + {size}] for start in starts]
    return {final}
''',
        (f"start + {size}]", f"start + {size + 1}]"),
        [(list(range(1, 2 * size + 3)),), (list(range(size)),), ([],), ([9],)],
        oracle,
    )


def _unique(key: str, keep: str) -> Draft:
    expression, told = {
        "value": ("word", "the word itself"),
        "lower": ("word.lower()", "the word without regard to case"),
        "length": ("len(word)", "its length"),
        "first": ("word[0]", "its first character"),
        "last": ("word[-1]", "its last character"),
        "letters": ('"".join(sorted(word))', "its characters in order"),
    }[key]
    source = {"first": "words", "last": "reversed(words)"}[keep]
    final = {"first": "kept", "last": "kept[::-1]"}[keep]

    def oracle(words: list[str]) -> list[str]:
        def of(word: str) -> object:
            return {
                "value": word,
                "lower": word.casefold(),
                "length": len(word),
                "first": word[:1],
                "last": word[-1:],
                "letters": sorted(word),
            }[key]

        def stays(place: int) -> bool:
            others = words[:place] if keep == "first" else words[place + 1 :]
            return of(words[place]) not in [of(other) for other in others]

        return [word for place, word in enumerate(words) if stays(place)]

    return Draft(
        "drop_repeats(words)",
        f"keeps of several words with one key only the {keep}, in the order of the list; the key of a word is"
        f" {told}. No word"
        " is empty.",
        "drop repeated words",
        f'''\
from collections.abc import Hashable


def key_of(word: str) -> Hashable:
    """Return what makes words equal."""
    return {expression}


def drop_repeats(words: list[str]) -> list[str]:
    """Keep the {keep} word of each key."""
    seen: set[Hashable] = set()
    kept = []
    for word in {source}:
        key = key_of(word)
        if key not in seen:
            kept.append(word)
        seen.add(key)
    return {final}
''',
        ("if key not in seen:", "if word not in kept and len(seen) < 2:"),
        [
            (["tea", "eat", "Tea", "ton", "tea", "net", "note", "ate", "oat"],),
            (["a", "b", "c", "a"],),
            ([],),
            (["one", "two", "three", "four", "five", "six"],),
        ],
        oracle,
    )


def _encode(least: int, style: str) -> Draft:
    piece, told = {
        "number-first": ("str(count) + value", "the number and then the character"),
        "number-last": ("value + str(count)", "the character and then the number"),
        "colon": ('value + ":" + str(count) + ";"', "the character, a colon, the number and a semicolon"),
        "braces": ('value + "{" + str(count) + "}"', "the character and the number in braces"),
    }[style]

    def oracle(text: str) -> str:
        result, at = "", 0
        while at < len(text):
            stop = at
            while stop < len(text) and text[stop] == text[at]:
                stop += 1
            n, c = stop - at, text[at]
            short = {
                "number-first": f"{n}{c}",
                "number-last": f"{c}{n}",
                "colon": f"{c}:{n};",
                "braces": f"{c}{{{n}}}",
            }[style]
            result += short if n >= least else c * n
            at = stop
        return result

    return Draft(
        "encode_runs(text)",
        f"shortens runs of at least {least} equal characters: in their place stands {told}; shorter runs stay"
        " as they are.",
        "shorten a text with long runs",
        f'''\
from itertools import groupby


def encode_runs(text: str) -> str:
    """Shorten runs of {least} or more."""
    pieces = []
    for value, run in groupby(text):
        count = len(list(run))
        short = {piece}
        pieces.append(short if count >= {least} else value * count)
    return "".join(pieces)
''',
        (f"count >= {least}", f"count > {least}"),
        [("a" * least + "b" + "c" * (least + 2),), ("xyz",), ("",), ("q" * 11 + "r" * (least - 1),)],
        oracle,
    )


def _interleave(longer: str, take: int) -> Draft:
    function, told = {
        "stop": ("zip", "stops where the shorter list ends"),
        "fill": ("zip_longest", "goes on with what the longer list has left"),
    }[longer]
    kept = "pieces" if longer == "stop" else "[piece for piece in pieces if piece is not None]"

    def oracle(first: list[int], second: list[int]) -> list[int]:
        both = min(len(first), len(second)) if longer == "stop" else max(len(first), len(second))
        mixed = [row[n] for n in range(both) for row in (first, second) if n < len(row)]
        return [item for place, item in enumerate(mixed) if place % take == 0]

    imported = "chain" if longer == "stop" else "chain, zip_longest"
    return Draft(
        "interleave(first, second)",
        f"takes items from two lists in turn, {told}, and returns"
        f" {'all' if take == 1 else f'every {take}th, from the first on,'}"
        " of what was taken.",
        "mix two lists",
        f'''\
from itertools import {imported}


def interleave(first: list[int], second: list[int]) -> list[int]:
    """Mix two lists."""
    pieces = list(chain.from_iterable({function}(first, second)))
    mixed = {kept}
    return mixed[::{take}]
''',
        (f"{function}(first, second)", f"{function}(second, first)"),
        [([1, 3, 5, 7], [2, 4, 6, 8]), ([1], [9, 8, 7]), ([], []), ([4, 4, 1, 3, 5], [0, 2])],
        oracle,
    )


def _partition(size: int, order: str) -> Draft:
    final, told = {
        "groups": ("[groups[rest] for rest in sorted(groups)]", "the groups in the order of their remainder"),
        "largest": (
            "max(groups.values(), key=len, default=[])",
            "the group with most numbers, the first that began of several, [] if there is none",
        ),
        "sizes": (
            "{rest: len(group) for rest, group in sorted(groups.items())}",
            "a dict from remainder to number of numbers, in order",
        ),
        "sums": (
            "{rest: sum(group) for rest, group in sorted(groups.items())}",
            "a dict from remainder to the sum of the numbers, in order",
        ),
    }[order]

    def oracle(numbers: list[int]) -> object:
        rests = list(dict.fromkeys(n % size for n in numbers))
        groups = {rest: [n for n in numbers if (n - rest) % size == 0] for rest in rests}
        ordered = {rest: groups[rest] for rest in sorted(rests)}
        most = [group for group in groups.values() if len(group) == max(map(len, groups.values()))]
        return {
            "groups": list(ordered.values()), "largest": most[0] if most else [],
            "sizes": {r: len(g) for r, g in ordered.items()}, "sums": {r: sum(g) for r, g in ordered.items()},
        }[order]  # fmt: skip

    return Draft(
        "by_remainder(numbers)",
        f"groups numbers by their remainder on division by {size} and returns {told}.",
        "group numbers",
        f'''\
from collections import OrderedDict


def by_remainder(numbers: list[int]) -> {"list" if order in ("groups", "largest") else "dict"}:
    """Group numbers by remainder."""
    groups = OrderedDict()
    for number in numbers:
        rest = number % {size}
        members = groups.setdefault(rest, [])
        members.append(number)
    return {final}
''',
        (f"number % {size}", f"number % {size + 1}"),
        [([5, 8, 12, 3, 7, 20, 1],), ([size, size + 1, 2 * size, 2 * size + 1, 1],), ([],), ([-1, -4, 6],)],
        oracle,
    )


FAMILIES = (
    Family("chunks", {"size": (2, 3, 4, 5, 6), "rest": ("keep", "drop", "pad")}, _chunks),
    Family(
        "repeats", {"key": ("value", "lower", "length", "first", "last", "letters"), "keep": ("first", "last")}, _unique
    ),
    Family(
        "run-lengths", {"least": (2, 3, 4, 5), "style": ("number-first", "number-last", "colon", "braces")}, _encode
    ),
    Family("interleaved", {"longer": ("stop", "fill"), "take": (1, 2, 3, 4)}, _interleave),
    Family("remainders", {"size": (2, 3, 4, 5, 6, 7), "order": ("groups", "largest", "sizes", "sums")}, _partition),
)
