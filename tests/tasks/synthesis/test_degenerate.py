"""A model's slips, against records that only look like them."""

import time

import pytest

from tasks.diversity.words import words
from tasks.synthesis.degenerate import chat_markup, commentary, cut_off, leaked_reasoning, repetition

LETTER = """Dear Ms. Okonkwo,

Thank you for your letter of 12 March. We have looked at the invoice again and found that the second visit was charged
twice. The amount of 48.50 will be paid back to your account within ten days.

Please call Mr. Szymański at the front desk if you have any further questions about this."""


@pytest.mark.parametrize(
    "text",
    [
        "<think>The letter should be short.</think>Dear Ana",
        "The letter should be short.</think>\nDear Ana",
        "Dear Ana <thinking>hm",
        "<|channel|>analysis<|message|>We write",
        "analysisWe need a letter.assistantfinalDear Ana",
        "Okay, the user wants a letter from a clinic.",
        "Hmm, so the user gave a profile.",
        "Alright, let's write a letter.",
        "We need to write a letter of 300 words.",
        "The user wants me to invent a bill.",
        "Dear Ana, as an AI language model, I have no visits.",
        "◁think▷short◁/think▷ Dear Ana",
    ],
)
def test_reasoning_left_in_a_text_is_found(text: str) -> None:
    assert leaked_reasoning(text)


@pytest.mark.parametrize(
    "text",
    [
        LETTER,
        "I think <3 you",
        "Okay, the movers come on Friday.",
        "We need to talk about the rent.",
        "I have to write a paper by Monday.",
        "The user could not log in; ticket closed.",
        "As an AI engineer, I work at the lab.",
        "Analysis: hemoglobin 13.1 g/dL",
        "my assistant analysis is due, final grade B",
    ],
)
def test_people_who_think_leak_no_reasoning(text: str) -> None:
    assert leaked_reasoning(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "<|im_start|>assistant\nDear Ana",
        "Dear Ana<|im_end|>",
        "[INST] a letter [/INST] Dear Ana",
        "<<SYS>>be kind<</SYS>>Dear Ana",
        "Dear Ana</s>",
        "<start_of_turn>model\nDear Ana",
        "<｜Assistant｜>Dear Ana",
        "### Instruction:\nwrite\n### Response:\nDear Ana",
        "User: write a letter\nAssistant: Dear Ana, see you soon.",
        "**Human:** a letter\n\n**Assistant:** Dear Ana",
        "Assistant:\nDear Ana, see you soon.",
    ],
)
def test_chat_markup_is_found(text: str) -> None:
    assert chat_markup(text)


@pytest.mark.parametrize(
    "text",
    [
        LETTER,
        "[12:03] <ana> hi\n[12:04] <tom> hey",
        "User: hi\nAssistant: hello\nUser: my card is lost\nAssistant: I have blocked it",
        "User: jsmith42\nSystem: Windows 11",
        "Assistant: Maria Lopez\nChair: Tom Ng",
        "Personal Assistant: Maria Lopez",
        "a <- b |> c",
        "if (a < b || c > d) return;",
        "## Response to your complaint",
    ],
)
def test_chats_and_code_hold_no_chat_markup(text: str) -> None:
    assert chat_markup(text) is None


@pytest.mark.parametrize(
    "text",
    [
        LETTER + "\n\nLet me know if you would like me to adjust the tone.",
        LETTER + "\n\n(Please note that all names and details are fictional.)",
        "This is a fictional letter.\n\n" + LETTER,
        LETTER + "\n\nI hope this letter meets your requirements.",
        LETTER + "\n\nFeel free to ask if you want any changes.",
    ],
)
def test_a_models_remark_on_its_text_is_found(text: str) -> None:
    assert commentary(text)


@pytest.mark.parametrize(
    "text",
    [
        LETTER,
        LETTER + "\nLet me know if you can come.",
        LETTER + "\nFeel free to ask the front desk.",
        "I write fictional stories, as you know. " + LETTER,
        "I hope this letter finds you well.\n" + LETTER,
    ],
)
def test_polite_people_make_no_commentary(text: str) -> None:
    assert commentary(text) is None


@pytest.mark.parametrize(
    "text",
    [
        LETTER + "\n\nWe are sorry for the trouble that this has caused you and would like to",
        LETTER + "\n\nWe are sorry for the trouble that this has caused you, your sister,",
        "We looked at the bill again. It was paid twice. We will return the money as soon as the bank has",
        "我们重新核对了账单，发现第二次就诊被重复计算。48.50元将在十天内退回您的账户。如果您还有其他问题，请致电前台，或者在周一到周五的上午，",
    ],
)
def test_an_end_in_mid_sentence_is_found(text: str) -> None:
    assert cut_off(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        LETTER,
        LETTER + '\n\nShe said: "we will not pay for this visit a second time."',
        LETTER + "\n\nSincerely,\nDr. Amara Nwosu",
        LETTER + "\n\nWith kind regards from all of us at the clinic,\nAmara",
        LETTER + "\n\nNorthfield Medical Center, 18 Oak Street, Suite 4, Springfield, Illinois",
        LETTER + "\n\ncc: Tom Ng, Billing; Maria Lopez, Records; Priya Raman, Front Desk",
        LETTER + "\n\nThank you so much and see you all on Friday at nine 😊",
        "[12:03] mbali: hey are you there, the scan came back and it is not good\n"
        "[12:04] sipho: ill drive you there on thursday so dont take the taxi with the others",
        "Item | Qty | Price\nWinter tyres | 4 | 88.00\nFitting | 1 | 40.00",
        "- bring the insurance card\n- fast for eight hours before the blood test at the clinic in town",
        "我们重新核对了账单，发现第二次就诊被重复计算。此致敬礼，诊所管理处。",
    ],
)
def test_ends_that_people_write_are_not_cut_off(text: str) -> None:
    assert cut_off(text) is None


@pytest.mark.parametrize(
    "text",
    [
        LETTER + "\nPlease call me back as soon as you can today." * 5,
        "I am very sorry. " * 20,
        (LETTER + " The paper is about the audit of a freelancer in 2010.") * 4,
        LETTER + "\n" + "and the bill and the bank and the bill and the bank " * 12,
        LETTER + " " + "ha" * 40,
        LETTER + " " + "ㅋ" * 40,
        "我很好。" * 40,
        "Total amount due\n" * 10,
        "".join(
            f"Total amount due\n{item} was paid in {month}\n"
            for item, month in zip("abcdefgh", "stuvwxyz", strict=True)
        ),
        " ".join(f"{number}. I am very sorry." for number in range(60)),
    ],
)
def test_a_loop_is_found(text: str) -> None:
    assert repetition(text, words(text))


VISITS = "\n".join(
    f"2021-03-{day:02}  BP 1{day}/80, pulse 7{day % 10}, pain {day % 4}/10; {note}"
    for day, note in enumerate(["walked to the door", "slept well", "asked for tea", "son visited", "went home"] * 5, 1)
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        LETTER,
        VISITS,
        "\n".join(f"| {item} | 1 | {price}.00 | Yes |" for price, item in enumerate("abcdefghijkl", 10)),
        "Allergies: none\nMedication: none\nSurgery: none\nPregnant: no\nSmoker: no\nAlcohol: no\nInsured: yes\n" * 2,
        "Paid in full. " * 3,
        LETTER + "\nhahahahahaha " + "😀" * 40,
        "-" * 80 + "\n" + LETTER + "\n" + "=" * 80,
    ],
)
def test_tables_forms_and_logs_are_no_loop(text: str) -> None:
    assert repetition(text, words(text)) is None


def test_strange_texts_take_no_time() -> None:
    started = time.process_time()
    for text in ("ab" * 20_000, "let me know " * 3_000, "assistant:" * 3_000, "a, " * 10_000, "\n\n\n" * 10_000):
        leaked_reasoning(text)
        chat_markup(text)
        commentary(text)
        cut_off(text)
        repetition(text, text.split())
    assert time.process_time() - started < 1
