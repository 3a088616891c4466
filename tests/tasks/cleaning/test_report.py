from tasks.cleaning.clean import Cleaned, Part
from tasks.cleaning.report import CleaningReport, report_of
from tasks.cleaning.values import Value


def report(before: str, after: str, **values: str) -> CleaningReport:
    named = [Value(key=key, value=value) for key, value in values.items()]
    return report_of(Cleaned((Part(0, before, after),)), named, "m")


def fates(made: CleaningReport) -> list[tuple[str, str, str]]:
    return [(place.text, place.fate, place.instead) for value in made.values for place in value.places]


def test_each_place_of_a_value_has_its_own_fate() -> None:
    made = report(
        "Amina Karim saw me. Later Amina Karim wrote. I thanked AMINA KARIM.",
        "A doctor saw me. Later wrote. I thanked AMINA KARIM.",
        name="Amina Karim",
    )
    assert fates(made) == [
        ("Amina Karim", "abstracted", "A doctor"),
        ("Amina Karim", "dropped", ""),
        ("AMINA KARIM", "kept", ""),
    ]


def test_a_value_of_which_a_part_stays_is_partly_kept() -> None:
    assert fates(report("Born on 12 May 2019 here.", "Born in 2019 here.", date="12 May 2019")) == [
        ("12 May 2019", "partly_kept", "in")
    ]


def test_leaks_are_found_letter_by_letter_and_folded() -> None:
    made = report("Amina Karim", "Amina Karim, amina  karim", name="Amina Karim", town="Oslo")
    assert [(each.start, each.stop, each.exact) for each in made.values[0].remaining] == [
        (0, 11, True),
        (13, 25, False),
    ]
    assert made.values[1].remaining == ()
    assert made.leaking == ("name",)


def test_a_short_value_is_no_leak_within_a_word() -> None:
    assert report("Al came", "Also he came", name="Al").leaking == ()


def test_changes_away_from_the_values_are_listed() -> None:
    made = report("Ann Berg came on Monday, happily.", "She came, happily indeed.", name="Ann Berg")
    assert [(each.before, each.after) for each in made.elsewhere] == [("on Monday", ""), ("", "indeed")]


def test_places_count_from_the_beginning_of_the_whole_text() -> None:
    cleaned = Cleaned((Part(0, "One part. ", "One part. "), Part(10, "Ann left.", "She left.")))
    (place,) = report_of(cleaned, [Value(key="name", value="Ann")], "m").values[0].places
    assert (place.start, place.stop, place.instead) == (10, 13, "She")
