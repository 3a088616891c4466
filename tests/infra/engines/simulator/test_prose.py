import re
from collections import Counter
from random import Random

import pytest

from infra.engines.simulator.prompt import Brief, phrases, read_prompt
from infra.engines.simulator.prose import write_text
from infra.engines.simulator.scene import Scene

SCRIPTS = {"Korean": r"[가-힣]", "Chinese": r"[一-鿿]"}
RUNNING_WORDS = {
    "German": {"der", "und", "die", "nicht"},
    "Spanish": {"el", "que", "de", "con"},
    "French": {"le", "la", "et", "de"},
}


def write(prompt: str, seed: int = 0) -> str:
    brief = read_prompt([prompt])
    return write_text(Scene(Random(seed), brief, brief.language))


def test_a_text_has_150_to_400_words() -> None:
    facts = "".join(f"fact_{number}: value {number}\n" for number in range(20))
    counts = [len(write(prompt, seed).split()) for prompt in ("", facts) for seed in range(100)]
    assert min(counts) >= 150
    assert max(counts) <= 400


def test_a_text_keeps_to_the_asked_length_within_these_bounds() -> None:
    short, long = ([len(write(f"About {words} words.", seed).split()) for seed in range(50)] for words in (100, 500))
    assert max(short) < min(long)


def test_values_of_the_prompt_are_woven_in() -> None:
    values = {"first name": "Onyah", "last_name": "Karlsen", "blood type": "AB-", "claim number": "QX-5512"}
    prompt = "".join(f"{key}: {value}\n" for key, value in values.items()) + "\nWrite a letter."
    for seed in range(20):
        assert all(value in write(prompt, seed) for value in values.values())


def test_instructions_are_not_taken_for_facts() -> None:
    assert read_prompt(["Format: a letter\nage: 30\n- Note: be brief"]).facts == {"age": "30"}


def test_only_a_fence_that_is_closed_with_its_own_hash_quotes() -> None:
    brief = read_prompt(["<text ab>\nPolicy number: 17\n</text cd>\nx\n</text ab>\n<text ef>\nopen"])
    assert brief.quoted == "Policy number: 17\n</text cd>\nx"
    assert brief.facts == {"policy_number": "17"}


@pytest.mark.parametrize("language", SCRIPTS)
def test_a_text_in_another_script_is_mostly_in_it(language: str) -> None:
    text = write(f"Write a letter in {language}.")
    letters = [letter for letter in text if letter.isalpha()]
    assert len(re.findall(SCRIPTS[language], text)) > 0.8 * len(letters)


@pytest.mark.parametrize("language", RUNNING_WORDS)
def test_a_text_in_another_language_has_its_running_words(language: str) -> None:
    assert RUNNING_WORDS[language] <= set(write(f"Write a letter in {language}.").lower().split())


def test_a_language_that_is_only_a_fact_does_not_count() -> None:
    brief = read_prompt(["language: Korean\n<text ab>\nShe wrote in German.\n</text ab>\nWrite in English."])
    assert brief.language == "English"


def test_texts_do_not_look_alike() -> None:
    sentences = Counter(
        sentence for seed in range(200) for sentence in set(re.split(r"(?<=\.)\s", write("Write a note.", seed)))
    )
    assert sum(count for count in sentences.values() if count > 1) < 0.1 * sentences.total()


def test_phrases_stand_in_the_text_they_were_found_in() -> None:
    texts = [write_text(Scene(Random(seed), Brief(), "English")) for seed in range(20)]
    assert all(phrase in text for text in texts for phrase in phrases(text))


def test_phrases_are_told_apart_by_kind() -> None:
    text = (
        "Dear Cristina Vogel, on 4 March 2019 and April 5, 2019 you paid $1,250.00 and 310.50 EUR for policy QX-55120, "
        "at 9:45, 12 Mill Lane. Call +44 123 555 0199 or write to c.vogel@hill.test. 2019년 3월 4일"
    )
    assert phrases(text) == {
        "c.vogel@hill.test": "email",
        "Cristina Vogel": "name",
        "4 March 2019": "date",
        "April 5, 2019": "date",
        "$1,250.00": "amount",
        "310.50 EUR": "amount",
        "QX-55120": "reference",
        "9:45": "time",
        "12 Mill Lane": "address",
        "+44 123 555 0199": "phone",
        "2019년 3월 4일": "date",
    }
