"""Values in chunks and leaks in texts, exact and folded."""

from tasks.sanitization.occurrences import Found, Leak, leaks, values_in_chunks


def test_a_value_is_found_in_every_chunk_that_holds_it_whatever_its_case() -> None:
    assert values_in_chunks(["Ana Lima,\n", "none ", "ANA  LIMA"], ["Ana Lima"]) == {
        0: [Found(0, 8, "Ana Lima", "value")],
        2: [Found(0, 9, "ANA  LIMA", "value")],
    }


def test_a_value_that_runs_over_chunks_has_a_part_in_each() -> None:
    found = values_in_chunks(["in Rua das ", "Flores ", "12, Porto"], ["Rua das Flores 12"])
    assert {index: [place.text for place in places] for index, places in found.items()} == {
        0: ["Rua das "],
        1: ["Flores "],
        2: ["12"],
    }


def test_a_leak_is_exact_or_folded() -> None:
    facts = [("name", "Ana Lima"), ("city", "Porto"), ("age", "5")]
    assert leaks("ANA LIMA, 51, of Porto.", facts) == [
        Leak("name", "Ana Lima", exact=False),
        Leak("city", "Porto", exact=True),
    ]
    assert leaks("PORTO and Porto", [("city", "Porto")]) == [Leak("city", "Porto", exact=True)]
