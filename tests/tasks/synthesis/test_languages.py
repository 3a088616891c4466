"""A text's language, whatever names, numbers and addresses stand in it."""

import tomllib
from pathlib import Path

import pytest

from tasks.synthesis.languages import Fit, judge_language
from tasks.synthesis.options import Language, load_options

LETTERS: dict[str, str] = tomllib.loads((Path(__file__).parent / "letters.toml").read_text(encoding="utf-8"))
LANGUAGES = {language.code: language for language in load_options().languages}
CLOSE = {("id", "ms"), ("ms", "id"), ("zh", "yue"), ("yue", "zh"), ("ne", "hi")}  # (text, asked), not kept apart

ENGLISH_FORM = """PATIENT INTAKE FORM
Name: Nguyễn Thị Hương
Address: 18 Calle de Alcalá, Madrid
Email: huong.nguyen@example.es
Insurance: Müller Versicherung AG
Allergies: penicillin
Emergency contact: Trần Văn Đức (husband)"""

ENGLISH_CHAT = """[12:03] mbali: hey u there
[12:04] siphoz: yeah whats up
[12:04] mbali: gogo's scan came back, its not good
[12:05] siphoz: eish sorry man. when do u see dr dlamini
[12:06] mbali: thursday 9am, groote schuur
[12:06] siphoz: ill drive u, dont take the taxi"""

KOREAN_FORM = """환자 등록 양식
Name: Katherine Smith
생년월일: 1984-03-12
주소: 18 Baker Street, London
Email: katherine.smith@example.co.uk
보험: Northern Health Insurance
알레르기: 없음"""


@pytest.mark.parametrize("code", LETTERS)
def test_a_letter_is_in_its_own_language(code: str) -> None:
    assert judge_language(LETTERS[code], LANGUAGES[code]).fit is Fit.ASKED


@pytest.mark.parametrize("code", LETTERS)
def test_a_letter_is_in_no_other_language(code: str) -> None:
    others = [language for other, language in LANGUAGES.items() if other != code and (code, other) not in CLOSE]
    accepted = [language.name for language in others if judge_language(LETTERS[code], language).fit is Fit.ASKED]
    assert accepted == []


def test_foreign_names_and_addresses_do_not_make_a_form_foreign() -> None:
    assert judge_language(ENGLISH_FORM, LANGUAGES["en"]).fit is not Fit.OTHER
    assert judge_language(KOREAN_FORM, LANGUAGES["ko"]).fit is not Fit.OTHER


def test_a_form_in_another_script_is_in_another_language() -> None:
    assert judge_language(ENGLISH_FORM, LANGUAGES["ko"]).fit is Fit.OTHER
    assert judge_language(ENGLISH_FORM.upper(), LANGUAGES["ko"]).fit is Fit.OTHER
    assert judge_language(KOREAN_FORM, LANGUAGES["ru"]).fit is Fit.OTHER


def test_a_chat_of_short_lines_is_judged_by_its_words() -> None:
    assert judge_language(ENGLISH_CHAT, LANGUAGES["en"]).fit is Fit.ASKED
    assert judge_language(ENGLISH_CHAT, LANGUAGES["fr"]).fit is Fit.OTHER


@pytest.mark.parametrize("name", ["Nguyễn Thị Hương", "Zsófia Szabó", "Владимир Кузнецов", "김민수", "王小明"])
def test_a_letter_full_of_foreign_names_keeps_its_language(name: str) -> None:
    text = LETTERS["en"] + f"\nSigned by {name} and {name}, for {name}" * 4
    assert judge_language(text, LANGUAGES["en"]).fit is Fit.ASKED


def test_a_letter_mostly_in_another_script_is_rejected() -> None:
    assert judge_language(LETTERS["ko"] * 3 + LETTERS["en"], LANGUAGES["en"]).fit is Fit.OTHER
    assert judge_language(LETTERS["en"] * 3 + LETTERS["ko"], LANGUAGES["ko"]).fit is Fit.OTHER


def test_serbian_may_be_written_in_latin_letters() -> None:
    latin = (
        "Poštovana gospođo, hvala vam na pismu. Ponovo smo proverili račun i utvrdili da je druga poseta obračunata "
        "dva puta. Iznos će biti vraćen na vaš račun u roku od deset dana."
    )
    assert judge_language(latin, LANGUAGES["sr"]).fit is Fit.ASKED


@pytest.mark.parametrize("text", ["", "48.50", "😀", "Total 48.50"])
def test_a_text_without_running_words_is_left_unjudged(text: str) -> None:
    assert judge_language(text, LANGUAGES["en"]).fit is Fit.UNJUDGED


def test_a_language_that_the_identifier_does_not_know_is_left_unjudged() -> None:
    klingon = Language("Klingon", "tlh", "Latn")
    assert judge_language(LETTERS["en"], klingon).fit is Fit.UNJUDGED
