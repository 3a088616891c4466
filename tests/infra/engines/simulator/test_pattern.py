import re
from random import Random

import pytest

from infra.engines.simulator.pattern import UnsupportedPattern, pattern_of

PATTERNS = [
    r"^[A-Z]{2}[0-9]{7}$",
    r"^[+]44 7[0-9]{3} [0-9]{6}$",
    r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$",
    r"^(?:male|female|other)$",
    r"^[^\[\]<>{}()0-9_@:;,]{2,40}$",
    r"^https://[a-z0-9./-]{4,40}$",
    r"^[a-z][a-z0-9_]{2,39}$",
    r"^\w+@\w+\.(com|org)$",
    r"^[\w.-]+?\s?\S*$",
    r"^a.c$",
    r"[-a-c]{3,}",
    r"^[\u4e00-\u9fff]{2}$",
    r"^$",
]


@pytest.mark.parametrize("source", PATTERNS)
def test_what_is_written_matches(source: str) -> None:
    rng = Random(1)
    written = {pattern_of(source).write(rng, 0, 100) for _ in range(50)}
    assert all(re.search(source, value) for value in written)
    assert len(written) > 1 or source == r"^$"


def test_open_quantifiers_stretch_and_shrink_to_the_asked_length() -> None:
    for shortest, longest in ((0, 1), (7, 9), (200, 300)):
        assert shortest <= len(pattern_of("^[a-z]+$").write(Random(2), shortest, longest)) <= longest


@pytest.mark.parametrize("source", [r"(?=a)b", r"(a)\1", r"\bword\b", r"[^\W\w]", "[a"])
def test_what_cannot_be_written_is_refused_by_name(source: str) -> None:
    with pytest.raises(UnsupportedPattern, match=re.escape(repr(source))):
        pattern_of(source)


def test_a_length_that_the_pattern_excludes_is_an_error() -> None:
    with pytest.raises(UnsupportedPattern, match="no string of 5 to 6"):
        pattern_of("^[a-z]{3}$").write(Random(3), 5, 6)
