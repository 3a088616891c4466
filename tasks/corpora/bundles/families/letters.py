"""Tasks on single characters of a text."""

import re
from collections import Counter

from tasks.corpora.bundles.draft import Draft, Family


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
        "shift-letters", {"step": (1, 2, 3, 4, 5, 6, 7, 8, 9), "scope": ("lower", "upper", "digits")}, _shift_letters
    ),
    Family("hide-digits", {"kept": (1, 2, 3, 4), "sign": ("*", "#", "x"), "side": ("first", "last")}, _hide_digits),
    Family("shared-letters", {"at_least": (2, 3, 4, 5, 6), "ordering": ("ascending", "descending")}, _common_letters),
)
