"""Tasks that read small notations."""

from collections.abc import Callable

from tasks.corpora.bundles.draft import Draft, Family


def _pairs(between: str, within: str, repeated: str) -> Draft:
    store, told = {
        "last": ("values[key] = int(number)", "the last of a repeated key counts"),
        "first": ("values.setdefault(key, int(number))", "the first of a repeated key counts"),
        "sum": ("values[key] = values.get(key, 0) + int(number)", "the numbers of a repeated key are added"),
    }[repeated]

    def oracle(text: str) -> dict[str, int]:
        found: dict[str, list[int]] = {}
        for part in filter(None, (part.strip() for part in text.split(between))):
            key, number = part.split(within)
            found.setdefault(key.strip(), []).append(int(number))
        return {key: {"last": n[-1], "first": n[0], "sum": sum(n)}[repeated] for key, n in found.items()}

    return Draft(
        "read_pairs(text)",
        f"reads `key{within}number` pairs that are separated by `{between}`, with spaces anywhere and empty"
        " parts skipped,"
        f" into a dict of integers; {told}.",
        "read a line of settings",
        f'''\
from collections.abc import Iterator


def split_pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield keys and numbers as text."""
    for part in text.split("{between}"):
        if part.strip():
            key, _, number = part.partition("{within}")
            yield key.strip(), number.strip()


def read_pairs(text: str) -> dict[str, int]:
    """Read a line of settings."""
    values: dict[str, int] = {{}}
    for key, number in split_pairs(text):
        {store}
    return values
''',
        (f'partition("{within}")', f'partition("{within} ")'),
        [
            (f"a{within}1{between}b {within} 2{between} a{within}3",),
            (f" width{within}20{between}{between}height{within}-4{between}",),
            ("",),
            (f"n{within}5{between}n{within}6{between}n{within}7",),
        ],
        oracle,
    )


def _duration(units: tuple[tuple[str, int], ...], result: str) -> Draft:
    divisor = {"seconds": 1, "minutes": 60}[result]
    pattern = "".join(letter for letter, _ in units)
    table = ", ".join(f'"{letter}": {seconds}' for letter, seconds in units)

    def oracle(text: str) -> int:
        total, number = 0, ""
        for character in text:
            if character.isdigit():
                number += character
            elif number and character in dict(units):
                total += int(number) * dict(units)[character]
                number = ""
            else:
                number = ""
        return total // divisor

    whole = "total" if divisor == 1 else f"total // {divisor}"
    told = ", ".join(f"`{letter}` for {seconds}" for letter, seconds in units)
    return Draft(
        "read_duration(text)",
        f"reads a duration such as `{'3'.join(['2', *pattern])[1:]}`: whole numbers, each followed by a unit"
        f" ({told} seconds);"
        f" other characters mean nothing. Returns whole {result}{', rounded down' if divisor > 1 else ''}.",
        f"turn durations into {result}",
        f'''\
import re

UNITS = {{{table}}}


def read_duration(text: str) -> int:
    """Return whole {result}."""
    parts = re.findall(r"(\\d+)([{pattern}])", text)
    total = sum(int(number) * UNITS[unit] for number, unit in parts)
    return {whole}
''',
        ("int(number) * UNITS[unit]", "int(number) + UNITS[unit]"),
        [
            ("".join(f"{n + 2}{letter}" for n, (letter, _) in enumerate(units)),),
            (f"1{pattern[0]} 30{pattern[-1]}",),
            ("",),
            (f"90{pattern[-1]} and 2{pattern[0]}, 7",),
        ],
        oracle,
    )


def _log_levels(levels: tuple[str, ...], gives: str) -> Draft:
    names = ", ".join(f'"{level}"' for level in levels)
    store, start, told = {
        "count": (
            "found[level] = found.get(level, 0) + 1",
            "dict[str, int]",
            "how many lines each of these levels has",
        ),
        "last": ("found[level] = message", "dict[str, str]", "the last message of each of these levels"),
        "longest": (
            "found[level] = max(found.get(level, 0), len(message))",
            "dict[str, int]",
            "the length of the longest message of each of these levels",
        ),
    }[gives]

    def oracle(lines: list[str]) -> dict[str, object]:
        messages: dict[str, list[str]] = {}
        for line in lines:
            words = line.split(" ", 1)
            if len(words) == 2 and words[0] in levels:
                messages.setdefault(words[0], []).append(words[1])
        pick: Callable[[list[str]], object] = {
            "count": len,
            "last": lambda m: m[-1],
            "longest": lambda m: max(map(len, m)),
        }[gives]
        return {level: pick(found) for level, found in messages.items()}

    return Draft(
        "read_log(lines)",
        f"takes lines such as `{levels[0]} message` and returns a dict with {told}: {', '.join(levels)}. Lines of other"
        " levels, or without a space, are left out, and so are levels without lines.",
        "sum up a log",
        f'''\
from collections.abc import Iterable

LEVELS = frozenset([{names}])


def read_log(lines: Iterable[str]) -> {start}:
    """Sum up a log by level."""
    found: {start} = {{}}
    for line in lines:
        level, space, message = line.partition(" ")
        known = level in LEVELS
        if known and space:
            {store}
    return found
''',
        ("if known and space:", "if known or space:"),
        [
            ([f"{level} part {n} " + "x" * n for n, level in enumerate(levels * 2)] + ["TRACE nothing here"],),
            (["OTHER line", levels[-1], f"{levels[-1]} done"],),
            ([],),
            ([f"{levels[0]} abc", f"{levels[0]} a", "x y"],),
        ],
        oracle,
    )


def _table(delimiter: str, reduce: str, skip_blank: bool) -> Draft:
    told = {"sum": "sum", "max": "largest", "min": "smallest"}[reduce]
    blank = " if row[column].strip()" if skip_blank else ""

    def oracle(text: str, column: str) -> int:
        header, *rows = [line.split(delimiter) for line in text.split("\n") if line]
        place = header.index(column)
        numbers = sorted(int(row[place]) for row in rows if row[place].strip())
        return {"sum": sum(numbers), "max": numbers[-1], "min": numbers[0]}[reduce]

    cell = f"{delimiter} {delimiter}" if skip_blank else f"{delimiter}5{delimiter}"
    return Draft(
        "reduce_column(text, column)",
        f"reads a table with a header row and cells separated by `{delimiter}`, and returns the {told} of the"
        " integers in"
        f" the named column{', blank cells skipped' if skip_blank else ''}.",
        "get one figure out of a table",
        f'''\
import csv
import io


def reduce_column(text: str, column: str) -> int:
    """Return the {told} of a column."""
    stream = io.StringIO(text)
    reader = csv.DictReader(stream, delimiter="{delimiter}")
    numbers = [int(row[column]) for row in reader{blank}]
    return {reduce}(numbers)
''',
        (f"{reduce}(numbers)", f"{reduce}(numbers[1:])"),
        [
            (
                "\n".join(
                    [
                        f"name{delimiter}size{delimiter}x",
                        f"a{delimiter}9{delimiter}1",
                        f"b{delimiter}4{delimiter}2",
                        f"c{delimiter}6{delimiter}3",
                    ]
                ),
                "size",
            ),
            (
                "\n".join(
                    [
                        f"k{delimiter}v{delimiter}w",
                        f"q{delimiter}-3{delimiter}8",
                        f"r{cell}-20",
                        f"s{delimiter}7{delimiter}4",
                    ]
                ),
                "v",
            ),
            ("\n".join([f"u{delimiter}v", f"30{delimiter}1", f"2{delimiter}1"]), "u"),
            ("\n".join([f"u{delimiter}v", f"1{delimiter}1", f"2{delimiter}9", f"2{delimiter}5"]), "u"),
        ],
        oracle,
    )


_TIMES = (("h", 3600), ("m", 60), ("s", 1))
FAMILIES = (
    Family(
        "key-values",
        {"between": (";", ",", "&", "|"), "within": ("=", ":"), "repeated": ("last", "first", "sum")},
        _pairs,
    ),
    Family(
        "durations",
        {
            "units": (
                _TIMES,
                _TIMES[:2],
                _TIMES[1:],
                (("d", 86400), *_TIMES),
                (("d", 86400), ("h", 3600)),
                (("w", 604800), ("d", 86400)),
            ),
            "result": ("seconds", "minutes"),
        },
        _duration,
    ),
    Family(
        "log-levels",
        {
            "levels": (
                ("INFO", "WARN"),
                ("ERROR", "FATAL"),
                ("WARN", "ERROR", "FATAL"),
                ("DEBUG", "INFO"),
                ("OK", "FAIL", "SKIP"),
                ("READ", "WRITE"),
            ),
            "gives": ("count", "last", "longest"),
        },
        _log_levels,
    ),
    Family(
        "tables", {"delimiter": (",", ";", "|"), "reduce": ("sum", "max", "min"), "skip_blank": (True, False)}, _table
    ),
)
