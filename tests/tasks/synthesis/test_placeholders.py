"""Slots, masks and blanks that a model left, against the brackets, masks and blanks of real documents."""

import time

import pytest

from tasks.synthesis.placeholders import placeholder

PLACEHOLDERS = [
    "Dear [Name],",
    "Sincerely,\n[Your Name]",
    "[Your Address]\n[City, State ZIP Code]\n[Date]",
    "Regards, [Your Full Name]",
    "I worked at [Company Name] for two years.",
    "[COMPANY NAME] hereby agrees",
    "Contact me at [phone number] or [email address].",
    "Dear [Recipient's Name],",
    "Dear [Recipient’s Name],",
    "Hearing on [insert date of hearing here].",
    "I met [your cat's nickname] there.",
    "Born on [Date of Birth].",
    "Send it to [first_name].",
    "The amount of [amount] is due.",
    "Patient: [Patient Name]",
    "- Policy: [Policy Number]",
    "[Name/Title]",
    "[Address Line 1]",
    "Hello <name>, welcome",
    "Due on <insert date>.",
    "Dear <Client Name>,",
    "Dear {{name}},",
    "Order {{ order.id }} has shipped",
    "Dear {first_name}, thank you",
    "(insert signature here)",
    "Phone: XXX-XXX-XXXX",
    "Call (555) XXX-XXXX today",
    "Call 555-XXXX today",
    "ID: XXXX",
    "Account number XXXXXX was closed",
    "Dear Mr. XXX, thank you",
    "born XX/XX/XXXX in Lyon",
    "Fax xxx-xxx-xxxx",
    "Name: ____________",
    "Phone ______ Email ______",
    "I, ____, of ____, owe ____ to my brother.",
    "Lorem ipsum dolor sit amet, consectetur",
    "Sehr geehrter [Name],",
    "Mit freundlichen Grüßen\n[Ihr Name]",
    "Estimado [Nombre del cliente]:",
    "Cordialement,\n[Votre nom]",
    "Cordiali saluti, [Il tuo nome e cognome]",
    "Atenciosamente,\n[Seu Nome]",
    "С уважением,\n[Ваше имя]",
    "안녕하세요, [이름]님",
    "[이름] 귀하",
    "수신: [고객님 성함]",
    "尊敬的[姓名]:",
    "此致\n【您的姓名】",
    "我在XX公司工作了两年。",
    "[氏名] 様",
    "担当は○○です。",
]

REAL = [
    "He wrote 'recieve' [sic] twice.",
    "As shown in [1] and [23].",
    "The witness [redacted] left at noon.",
    "[12:03] maria: are you there?",
    "[2021-03-04 12:03:44] login ok",
    "<maria> hey\n<[bot]> maria joined",
    "<tom_92> my name is tom",
    "[bot] reminder: rent is due",
    "[laughs] No, I did not.",
    "[phone rings]",
    "Patient: I [pause] fell.",
    "[Doctor] How long have you had this?",
    "[Patient] Since Monday.",
    "[x] married [ ] single",
    "[ ] I agree to the terms",
    "The minutes say [...] and then […]",
    "See [City Hall](https://example.org/hall) and [Address](https://example.org).",
    "'We will pay [the company] in full', he said.",
    "'I saw [her employer] there', she said.",
    "[Date of Birth] 4 May 1961",
    "[Name] Priya Raman\n[City] Chennai",
    "[Date: 12 March 2021]",
    "[Case 2041-7]",
    "[Translated from Spanish]",
    "[ERROR] disk full on /dev/sda1",
    "[INFO] user 4711 logged in",
    "Re: [EXTERNAL] your invoice",
    "Status: [Active]",
    "Press [Enter] to go on, or [Insert].",
    "Write to Ana Ruiz <ana.ruiz@example.org>.",
    "<name>Ana Ruiz</name><date>2021-03-04</date>",
    "<br> and <address type='home'>",
    "if a < name and b > date",
    '{"name": "Ana", "date": "2021-03-04"}',
    "SSN: XXX-XX-4821",
    "Card: XXXX-XXXX-XXXX-4417",
    "Card: XXXX XXXX XXXX 4417",
    "Account: XXXXXX4417",
    "love you lots xxx",
    "Love, Mum XXX",
    "See you soon XXX\n\nP.S. bring the cake",
    "He watched Super Bowl XXX with his father.",
    "Chapter XXX of the code applies.",
    "Size XXXL, two pairs",
    "Signature: ____________   Date: ________",
    "______________________\nTomás Rivera",
    "Printed name: ______________",
    "____________________________",
    "Middle initial: ___",
    "Smoker: ___ yes _X_ no",
    "For office use only: ______",
    "def __init__(self): ...",
    "my___handle on that site",
    "The loan is XX chromosome research.",
    "女性的XX染色体",
    "二〇〇五年三月四日",
    "【姓名】张伟",
    "[이름] 김민수",
    "[속보] 지진이 났다",
    "【重要】お支払いのお願い",
    "[Anlage 3] liegt bei.",
    "[l'assistante] a répondu",
    "Il a dit « nom » et «date».",
    "The state, the city and the name of the street are right.",
]


@pytest.mark.parametrize("text", PLACEHOLDERS)
def test_a_value_still_to_be_filled_in_is_found(text: str) -> None:
    assert placeholder(text)


@pytest.mark.parametrize("text", REAL)
def test_what_real_documents_hold_is_no_placeholder(text: str) -> None:
    assert placeholder(text) is None


def test_the_detail_names_the_slot() -> None:
    assert placeholder("Dear Ana,\nyour [Policy Number] is due") == "a value was left to be filled in: [Policy Number]"


def test_odd_brackets_take_no_time() -> None:
    started = time.process_time()
    for text in ("[" * 20_000, "[name " * 5_000, "<" * 20_000, "_" * 20_000, "X-" * 10_000, "XX-" * 7_000 + "1"):
        placeholder(text)
    assert time.process_time() - started < 0.5
