"""Tasks on words, letters and lines."""

import re
from collections import Counter

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


def _shift_letters(step: int, scope: str) -> Draft:
    alphabet, told = {
        "lower": ("string.ascii_lowercase", "each lower case letter"),
        "upper": ("string.ascii_uppercase", "each upper case letter"),
        "digits": ("string.digits", "each digit"),
    }[scope]
    size = 10 if scope == "digits" else 26

    def oracle(text: str) -> str:
        first = {"lower": "a", "upper": "A", "digits": "0"}[scope]
        inside = re.compile({"lower": "[a-z]", "upper": "[A-Z]", "digits": "[0-9]"}[scope])
        return inside.sub(lambda found: chr((ord(found[0]) - ord(first) + step) % size + ord(first)), text)

    return Draft(
        "shift_text(text)",
        f"moves {told} of a text {step} places on in its alphabet, from the end back to the start, and leaves all other"
        " characters as they are.",
        f"rotate characters by {step}",
        f'''\
import string


def shift_text(text: str) -> str:
    """Move {told} {step} places on."""
    alphabet = {alphabet}
    moved = alphabet[{step}:] + alphabet[:{step}]
    table = str.maketrans(alphabet, moved)
    return text.translate(table)
''',
        (f"alphabet[{step}:] +", f"alphabet[{step + 1}:] +"),
        [("abc xyz ABC XYZ 0189",), ("Room 7, Zone 9",), ("",), ("zebra QUILT 55",)],
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


def _hide_digits(kept: int, sign: str, side: str) -> Draft:
    first = side == "first"

    def oracle(text: str) -> str:
        places = [place for place, c in enumerate(text) if c in "0123456789"]
        shown = set(places[:kept] if first else places[len(places) - min(kept, len(places)) :])
        return "".join(sign if place in places and place not in shown else c for place, c in enumerate(text))

    condition = f"seen < {kept}" if first else f"seen >= total - {kept}"
    return Draft(
        "hide_digits(text)",
        f"replaces each digit of a text by `{sign}`, but for the {side} {kept} digits of it.",
        "hide most of a number in a text",
        f'''\
def hide_digits(text: str) -> str:
    """Show the {side} {kept} digits only."""
    total = sum(character.isdigit() for character in text)
    shown = []
    seen = 0
    for character in text:
        visible = {condition}
        if character.isdigit():
            shown.append(character if visible else "{sign}")
            seen = seen + 1
        else:
            shown.append(character)
    return "".join(shown)
''',
        (condition, condition.replace(f"< {kept}", f"<= {kept}").replace(f"total - {kept}", f"total - {kept + 1}")),
        [("card 4929 1122 7781",), ("call 55-01-77-31 or 99",), ("none",), ("7 of 8",)],
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


def _common_letters(at_least: int, ordering: str) -> Draft:
    reverse = ", reverse=True" if ordering == "descending" else ""

    def oracle(words: list[str]) -> str:
        counts = Counter(letter for word in words for letter in sorted(set(word)))
        letters = sorted(letter for letter, count in counts.items() if count >= at_least)
        return "".join(letters[::-1] if reverse else letters)

    return Draft(
        "shared_letters(words)",
        f"returns, as one string in {ordering} order, the characters that occur in at least {at_least} of the words.",
        "find characters that several words have",
        f'''\
from collections import defaultdict


def shared_letters(words: list[str]) -> str:
    """Find characters that at least {at_least} words have."""
    owners = defaultdict(set)
    for number, word in enumerate(words):
        for letter in word:
            owners[letter].add(number)
    shared = [letter for letter, numbers in owners.items() if len(numbers) >= {at_least}]
    return "".join(sorted(shared{reverse}))
''',
        (f">= {at_least}", f"> {at_least}"),
        [
            (["apple", "plane", "lamp", "pearl", "place"],),
            (["aa", "ab", "abc", "abcd", "abcde", "abcdef"],),
            ([],),
            (["same", "same", "same"],),
        ],
        oracle,
    )


FAMILIES = (
    Family(
        "word-counts",
        {"least": (1, 2, 3), "fold": (True, False), "order": ("count", "word"), "limit": (None, 2, 3)},
        _word_counts,
    ),
    Family(
        "shift-letters", {"step": (1, 2, 3, 4, 5, 6, 7, 8, 9), "scope": ("lower", "upper", "digits")}, _shift_letters
    ),
    Family("slugs", {"separator": ("-", "_", "."), "longest": (12, 16, 20, 24, 30), "digits": (True, False)}, _slug),
    Family("initials", {"shortest": (2, 3, 4), "joiner": ("", ".", "-"), "upper": (True, False)}, _initials),
    Family("hide-digits", {"kept": (1, 2, 3, 4), "sign": ("*", "#", "x"), "side": ("first", "last")}, _hide_digits),
    Family(
        "clip-lines", {"width": (8, 10, 12, 16, 20), "mark": ("~", "..", "..."), "strip": (True, False)}, _long_lines
    ),
    Family("shared-letters", {"at_least": (2, 3, 4, 5, 6), "ordering": ("ascending", "descending")}, _common_letters),
)
