"""What is typed into a search field, run against a real index: it is data, never syntax."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.search.words import TOKENIZER, QueryUnusable, expression, indexed, terms_of

TEXTS = {
    1: 'Amina Karim has high blood pressure. She said "no".',
    2: "Pressure of blood: 120/80, says the draft of the pharmacy",
    3: "José Müller, Straße 5 AND OR NOT NEAR",
    4: "山田太郎は東京都に住んでいます。",
    5: "환자는 Nguye\u0302\u0303n Văn Ánh, ＩＤ ４７１１, ΟΔΟΣ, مُحَمَّد, हिन्दी",
}


def found(typed: str) -> list[int]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE fts USING fts5(text, names, content='', tokenize='" + TOKENIZER + "')")
    for number, text in TEXTS.items():
        connection.execute("INSERT INTO fts (rowid, text, names) VALUES (?, ?, 'amina')", (number, indexed(text)))
    match = expression(typed, "text")
    if match is None:
        return list(TEXTS)
    return [row[0] for row in connection.execute("SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid", (match,))]


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        ("blood", [1, 2]),
        ("PRESSURE blood", [1, 2]),
        ('"blood pressure"', [1]),
        ('"blood pressure', [1]),  # a quotation mark that is not closed
        ("blood -draft", [1]),
        ('blood -"blood pressure"', [2]),
        ("pharm", []),
        ("pharm*", [2]),
        ("jose muller", [3]),
        ("strasse STRASSE", [3]),
        ("nguyen", [5]),  # two marks on one letter, here written apart
        ("Nguy\u1ec5n", [5]),
        ("anh", [5]),
        ("환자", [5]),  # a particle follows
        ("id 4711", [5]),  # of full width in the text
        ("οδός", [5]),
        ("محمد", [5]),  # without the vowels of the text
        ("हिन्दी", [5]),
        ("हन्द", []),  # marks that are vowels of their own
        ("AND", [3]),
        ("blood OR josé", []),  # no operator: a word that stands in none of both
        ("NOT near", [3]),
        ("120/80", [2]),
        ("東京", [4]),
        ("京都", [4]),
        ("都京", []),
        ("amina", [1]),  # not what only the names hold
        ("names:amina", []),
        ("text : blood", []),
        ("", [1, 2, 3, 4, 5]),
        ("* - \" ( ) ^ : ' + {}", [1, 2, 3, 4, 5]),
    ],
)
def test_what_is_typed_finds_what_a_person_means(typed: str, numbers: list[int]) -> None:
    assert found(typed) == numbers


def test_only_exclusions_are_refused_with_a_reason() -> None:
    with pytest.raises(QueryUnusable, match="add a word"):
        expression("-draft", "text")


def test_a_prefix_is_of_a_word_not_of_a_phrase() -> None:
    assert [term.prefix for term in terms_of('phar* "phar*"')] == [True, False]


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=40) | st.text(alphabet="ab \"*-(){}^:+'\\\0\n.", max_size=20))
def test_nothing_that_is_typed_breaks_the_index(typed: str) -> None:
    try:
        found(typed)
    except QueryUnusable:
        assert all(term.excluded for term in terms_of(typed))
