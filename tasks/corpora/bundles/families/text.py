"""Tasks on words, letters and lines."""

from tasks.corpora.bundles.draft import Draft, Family


def _word_counts(least: int, fold: bool, order: str, limit: int | None) -> Draft:
    word = "word.lower()" if fold else "word"
    key, told = {
        "count": ("(-pair[1], pair[0])", "most frequent first, words of one count by alphabet"),
        "word": ("pair[0]", "by alphabet"),
    }[order]
    cut = "" if limit is None else f"[:{limit}]"
    most = "" if limit is None else f" Return at most {limit} of them."

    def oracle(text: str) -> list[tuple[str, int]]:
        counts: dict[str, int] = {}
        for each in text.split():
            name = each.lower() if fold else each
            counts[name] = counts.get(name, 0) + 1
        pairs = sorted((name, count) for name, count in counts.items() if count >= least)
        if order == "count":
            pairs.sort(key=lambda pair: pair[1], reverse=True)
        return pairs[:limit]

    return Draft(
        "count_words(text)",
        f"counts the words of a text, {'ignoring case' if fold else 'case kept'}, keeps those that occur at"
        f" least {least}"
        f" times, and returns (word, count) pairs, {told}.{most}",
        "see which words of a text are frequent",
        f'''\
from collections import Counter


def count_words(text: str) -> list[tuple[str, int]]:
    """Count the words that occur at least {least} times."""
    counts = Counter({word} for word in text.split())
    pairs = [(word, count) for word, count in counts.items() if count >= {least}]
    ordered = sorted(pairs, key=lambda pair: {key})
    return ordered{cut}
''',
        (f">= {least}", f"> {least}"),
        [
            (" ".join(["tea"] * least + ["Tea"] * (least + 1) + ["milk"] * (least - 1) + ["cup"] * (least + 2)),),
            (" ".join(["b", "a", "c", "d"] * least),),
            ("",),
            ("one Two two",),
        ],
        oracle,
    )


def _slug(separator: str, longest: int, digits: bool) -> Draft:
    allowed = "[a-z0-9]+" if digits else "[a-z]+"

    def oracle(title: str) -> str:
        kept = "".join(
            c if c in "abcdefghijklmnopqrstuvwxyz" or (digits and c in "0123456789") else " " for c in title.lower()
        )
        return separator.join(kept.split())[:longest].strip(separator)

    return Draft(
        "slugify(title)",
        f"turns a title into lower case words {'of letters and digits' if digits else 'of letters only'}, joined by"
        f" `{separator}`, cut to {longest} characters, without `{separator}` at either end.",
        "make names for pages from their titles",
        f'''\
import re


def slugify(title: str) -> str:
    """Make a name of at most {longest} characters."""
    words = re.findall(r"{allowed}", title.lower())
    joined = "{separator}".join(words)
    return joined[:{longest}].strip("{separator}")
''',
        (f"[:{longest}]", f"[:{longest - 2}]"),
        [
            ("The Quick Brown Fox Jumps Over 12 Lazy Dogs Again",),
            ("  Hello,   World! ",),
            ("2024: a review of 9 books",),
            ("---",),
        ],
        oracle,
    )


def _initials(shortest: int, joiner: str, upper: bool) -> Draft:
    case = ".upper()" if upper else ""

    def oracle(phrase: str) -> str:
        letters = [word[0] for word in phrase.split() if len(word) >= shortest]
        return joiner.join(letter.upper() if upper else letter for letter in letters)

    return Draft(
        "initials(phrase)",
        f"joins the first characters of the words with at least {shortest} characters"
        f"{f' by `{joiner}`' if joiner else ''}{', in upper case' if upper else ''}.",
        "abbreviate a phrase",
        f'''\
from collections.abc import Iterable


def pick(words: Iterable[str]) -> list[str]:
    """Take the first characters of long words."""
    return [word[0] for word in words if len(word) >= {shortest}]


def initials(phrase: str) -> str:
    """Abbreviate a phrase."""
    letters = pick(phrase.split())
    short = "{joiner}".join(letters)
    return short{case}
''',
        (f">= {shortest}", f"> {shortest}"),
        [
            ("a to the quick brown foxes",),
            ("portable network graphics of an age",),
            ("",),
            ("it was not the best plan",),
        ],
        oracle,
    )


def _long_lines(width: int, mark: str, strip: bool) -> Draft:
    prepared = "line.strip()" if strip else "line"

    def oracle(text: str) -> list[str]:
        found = []
        for line in text.split("\n") if text else []:
            clean = line.strip() if strip else line
            found.append(clean if len(clean) <= width else clean[: width - len(mark)] + mark)
        return found

    return Draft(
        "clip_lines(text)",
        f"splits a text into lines{', strips each' if strip else ''} and cuts those of more than {width} characters so"
        f" that they are {width} long with `{mark}` at their end; returns the list of lines.",
        "keep lines short",
        f'''\
from itertools import starmap


def clip(line: str, width: int) -> str:
    """Cut one line."""
    if len(line) <= width:
        return line
    return line[: width - {len(mark)}] + "{mark}"


def clip_lines(text: str) -> list[str]:
    """Cut every line to {width} characters."""
    lines = [({prepared}, {width}) for line in text.splitlines()]
    return list(starmap(clip, lines))
''',
        ("<= width", "< width"),
        [("x" * width + "\n" + "y" * (width + 1) + "\nshort",), ("  ab cd  \nefg",), ("",), ("word " * 12,)],
        oracle,
    )


FAMILIES = (
    Family(
        "word-counts",
        {"least": (1, 2, 3), "fold": (True, False), "order": ("count", "word"), "limit": (None, 2, 3)},
        _word_counts,
    ),
    Family("slugs", {"separator": ("-", "_", "."), "longest": (12, 16, 20, 24, 30), "digits": (True, False)}, _slug),
    Family("initials", {"shortest": (2, 3, 4), "joiner": ("", ".", "-"), "upper": (True, False)}, _initials),
    Family(
        "clip-lines", {"width": (8, 10, 12, 16, 20), "mark": ("~", "..", "..."), "strip": (True, False)}, _long_lines
    ),
)
