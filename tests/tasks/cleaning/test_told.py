from tasks.cleaning.config import MOST_TOLD
from tasks.cleaning.diff import Change
from tasks.cleaning.told import instruction_for, relevant

AMINA = Change(0, 15, "Dr. Amina Karim", "the doctor")
MAY = Change(20, 31, "12 May 2019", "")
HE = Change(40, 42, "he", "they")


def test_what_is_said_beside_the_callers_words() -> None:
    assert instruction_for("Hide it.", "Karim left on 12 May 2019.", [AMINA, MAY], ["NAME-7KQ2X"]) == (
        "Hide it.\n"
        "\n"
        "Codes such as NAME-7KQ2X stand for something that has been taken out already. Leave them where they are,"
        " letter by letter.\n"
        "\n"
        "The text is a later part of a longer one. In the parts before it, this was changed; where the same comes up"
        " again, in full or in part, do the same:\n"
        '- "Dr. Amina Karim": write "the doctor"\n'
        '- "12 May 2019": leave it out\n'
    )


def test_where_there_is_nothing_to_add_the_callers_words_stand_alone() -> None:
    assert instruction_for(" Hide {{ it }}.\n", "Nobody left.", [AMINA, MAY], []) == " Hide {{ it }}.\n"


def test_a_part_of_a_name_or_a_date_calls_for_what_replaced_the_whole() -> None:
    assert relevant([AMINA, MAY], "It was KARIM, in 2019.") == [AMINA, MAY]
    assert relevant([AMINA, MAY], "It was Karim.") == [AMINA]
    assert relevant([AMINA, MAY], "They may come.") == []  # no name, whatever it is in other places


def test_a_common_word_is_told_where_it_stands_and_the_first_replacement_of_a_thing_counts() -> None:
    again = Change(90, 105, "dr. amina karim", "a physician")
    assert relevant([HE, AMINA, again], "Then he saw Dr. Amina Karim.") == [HE, AMINA, again][:2]


def test_insertions_and_rewritten_paragraphs_are_not_told() -> None:
    assert relevant([Change(0, 0, "", "indeed"), Change(0, 900, "Karim " * 150, "x")], "Karim, indeed") == []


def test_no_more_is_told_than_has_room() -> None:
    many = [Change(0, 8, f"Person {number:02}", "somebody") for number in range(99)]
    text = " ".join(change.before for change in many)
    assert relevant(many, text) == many[:MOST_TOLD]
