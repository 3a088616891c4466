"""What a person types into a search field, as an expression of SQLite's full-text index: nothing in it is syntax.

    amina karim        both words, in any order
    "blood pressure"   these words in this order
    -draft             not this word
    pharma*            words that begin so

Letters are compared without case and accents, and in whatever form or width they are written. Chinese, Japanese, Thai
and other scripts without spaces are indexed sign by sign, so that any run of signs is found; Korean likewise, whose
words have their particles at their end.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import regex

TOKENIZER = "unicode61 remove_diacritics 2"  # cuts words; with 1, letters with two marks, as in Nguyễn, would keep them
# A sign of a script that puts no spaces between words is a word of its own.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
# What makes a letter of these scripts another, and may be left out by whoever types; elsewhere marks are vowels.
_ACCENTS = regex.compile(r"(?<=[\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}])\p{Mn}+")
_PART = regex.compile(r'(?P<not>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
_LETTER = regex.compile(r"[\p{L}\p{N}\p{Co}]")  # what the index keeps: anything else only parts words


class QueryUnusable(ValueError):
    """Nothing can be looked for by this; the message says why."""


def indexed(text: str) -> str:
    """Return ``text`` as it goes into the index: compatible forms, accents and case made equal, signs apart."""
    if text.isascii():
        return text
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return _UNSPACED.sub(r" \g<0> ", unicodedata.normalize("NFC", bare).casefold())


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a phrase to look for."""

    text: str
    excluded: bool
    prefix: bool

    def __str__(self) -> str:
        quoted = indexed(self.text).replace('"', " ").replace("\0", " ")
        return f'"{quoted}"{" *" if self.prefix else ""}'


def terms_of(typed: str) -> list[Term]:
    """Return what is looked for; parts without a letter or digit look for nothing."""
    return list(_terms(typed))


def _terms(typed: str) -> Iterator[Term]:
    for part in _PART.finditer(typed):
        text = part["word"] if part["phrase"] is None else part["phrase"]
        prefix = part["phrase"] is None and text.endswith("*")
        if _LETTER.search(text):
            yield Term(text.rstrip("*") if prefix else text, bool(part["not"]), prefix)


def expression(typed: str, column: str) -> str | None:
    """Return the expression that looks for ``typed`` in a column of the index; None where nothing is asked for.

    Raises:
        QueryUnusable: there are only exclusions.
    """
    terms = terms_of(typed)
    wanted = [str(term) for term in terms if not term.excluded]
    excluded = [str(term) for term in terms if term.excluded]
    if not terms:
        return None
    if not wanted:
        raise QueryUnusable(f"{typed!r}: says only what is not looked for: add a word that is")
    found = f"{{{column}}} : ({' AND '.join(wanted)})"
    return f"({found} NOT {{{column}}} : ({' OR '.join(excluded)}))" if excluded else f"({found})"
