"""A record is kept, or rejected for the reason that is true of it."""

import time

import pytest

from tasks.diversity.words import count_words
from tasks.synthesis.filters import FILTER_REASONS, Rejection, degenerate, under_age
from tasks.synthesis.options import Language

ENGLISH = Language("English", "en", "Latn")
GERMAN = Language("German", "de", "Latn")
LETTER = """Dear Ms. Okonkwo,

Thank you for your letter of 12 March. We have looked at the invoice again and found that the second visit was charged
twice. The amount of 48.50 will be paid back to your account within ten days. I am sorry for the trouble.

Please call Mr. Szymański at the front desk if you have any further questions about this. He is there from Monday to
Friday between nine and five, and has your file at hand.

With kind regards,
Amara Nwosu"""


def reason(text: str, language: Language = ENGLISH) -> str | None:
    rejection = degenerate(text, language)
    return rejection.reason if rejection else None


def test_an_ordinary_letter_is_kept() -> None:
    assert degenerate(LETTER, ENGLISH) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm sorry, but I can't help with that request.", "refusal"),
        ("<think>A letter.</think>" + LETTER, "leaked_reasoning"),
        (LETTER + "<|im_end|>", "chat_markup"),
        (LETTER + "\n</text 0a1b2c3d>", "prompt_leak"),
        (" ".join(LETTER.split()[:63]), "too_short"),
        (LETTER.replace("Amara Nwosu", "[Your Name]"), "placeholder"),
        (LETTER + "\nPlease call me back as soon as you can today." * 9, "repetition"),
        (LETTER + "\nLet me know if you would like me to revise it.", "commentary"),
        (
            LETTER.split("With kind")[0] + "If the money has not come by the end of next week, please write to the",
            "cut_off",
        ),
    ],
)
def test_the_reason_is_named(text: str, expected: str) -> None:
    assert reason(text) == expected
    assert expected in FILTER_REASONS


def test_a_text_in_another_language_is_rejected_with_both_named() -> None:
    assert degenerate(LETTER, GERMAN) == Rejection("wrong_language", "asked in German, written in en")


def test_sixty_four_words_are_enough() -> None:
    text = " ".join(LETTER.split()[:64])
    assert count_words(text) == 64  # so that the limit is met exactly
    assert reason(text) != "too_short"


def test_a_long_beginning_without_words_does_not_hide_the_words_after_it() -> None:
    assert reason("-" * 800 + "\n" + LETTER) is None


def test_a_text_without_spaces_is_counted_in_letters() -> None:
    chinese = "王女士您好，感谢您三月十二日的来信，我们重新核对了账单，发现第二次就诊被重复计算了。" * 2
    mandarin = Language("Mandarin Chinese", "zh", "Hans", spaced=False)
    assert len(chinese) > 64  # letters, of which 15 say what ten words say
    assert reason(chinese, mandarin) == "too_short"


def test_people_under_eighteen_are_left_out() -> None:
    assert under_age(17) == Rejection("under_age", "the person is 17")
    assert under_age(18) is None
    assert "under_age" in FILTER_REASONS


def test_all_filters_together_take_milliseconds() -> None:
    text = LETTER * 6  # 550 words
    degenerate(text, ENGLISH)  # loads the language model
    started = time.process_time()
    for _ in range(5):
        degenerate(text, ENGLISH)
    assert time.process_time() - started < 5 * 0.01  # measured 2 ms each; room for a busy machine
