"""Refusals in many phrasings, against people who decline something of their own."""

import time

import pytest

from tasks.synthesis.refusals import is_refusal

REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I‘m sorry, I can‘t help with that.",
    "I cannot assist with this request.",
    "Sorry, I can't do that.",
    "I'm sorry. I am unable to comply.",
    "I must decline.",
    "I must respectfully decline to write such content.",
    "I'm not able to generate content that contains personal information about individuals.",
    "I am unable to provide personal information.",
    "I can't create a realistic medical record, as it could be misused.",
    "I cannot fulfill your request.",
    "I won’t write this kind of document.",
    "I don't feel comfortable writing a letter with private details of a real person.",
    "As an AI language model, I cannot produce private documents.",
    "As an AI, I don't have access to personal records.",
    "Unfortunately, as an AI assistant, I am not able to do this.",
    "I'm just an AI model and can't write that.",
    "I understand that you need a letter. However, I can't create fictional identity documents.",
    "I appreciate your question, but I can't help with that.",
    "Thank you for your request. I'm not comfortable generating such material.",
    "This request goes against my guidelines, so I have to stop here.",
    "**I'm sorry, but I can't fulfill that request.**",
    "\"I'm sorry, but I can't continue with that.\"",
    "I apologize, but I cannot provide that type of information.",
    "I'd rather not write fake records.",
    "I apologize for the confusion. However, I have no details. As an AI language model, I am unable to draft it.",
    "Unable to assist with that request.",
    "Sorry, I won’t be able to write this, because it involves private data of a person.",
    "Unfortunately I am not able to produce that, since it holds sensitive personal information.",
    "Es tut mir leid, aber bei dieser Anfrage kann ich nicht helfen.",
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
    "Es tut mir leid, ich kann Ihnen dabei leider nicht weiterhelfen.",
    "Ich kann diese Anfrage leider nicht erfüllen.",
    "Als KI-Sprachmodell kann ich keine persönlichen Daten erstellen.",
    "Lo siento, pero no puedo ayudarte con eso.",
    "No puedo generar este tipo de contenido.",
    "Como modelo de lenguaje, no tengo acceso a datos personales.",
    "Je suis désolé, mais je ne peux pas vous aider avec cela.",
    "Désolé, je ne peux pas répondre à cette demande.",
    "En tant qu’IA, je ne peux pas rédiger ce document.",
    "Mi dispiace, ma non posso aiutarti con questo.",
    "Desculpe, mas não posso ajudar com isso.",
    "Извините, но я не могу помочь с этим.",
    "죄송합니다만, 요청하신 내용은 도와드릴 수 없습니다.",
    "죄송합니다. 개인 정보를 포함한 문서는 작성할 수 없습니다.",
    "저는 AI 언어 모델이라 개인 문서를 쓸 수 없습니다.",
    "抱歉，我无法提供此类内容。",
    "很抱歉，我不能协助完成这个请求。",
    "作为一个人工智能语言模型，我不能生成私人文件。",
    "申し訳ありませんが、そのようなリクエストにはお応えできません。",
]

NOT_REFUSALS = [
    "I'm sorry, but I can't attend the hearing on Thursday.",
    "I’m sorry, but I can’t come to your wedding in June.",
    "I can't help but think about what the doctor said.",
    "I cannot help you move on Saturday, my back is still bad.",
    "I must decline your kind invitation to the board.",
    "I am unable to work since the accident on 4 May.",
    "I am not able to pay the full rent this month.",
    "I can't write much today, the baby is asleep on my arm.",
    "I do not have the documents that you asked for yet.",
    "I won't be home before nine.",
    "Unfortunately, your application for leave was not approved.",
    "Unfortunately, I can't provide the lab results before Monday.",
    "Sorry I missed your call, I was with a patient.",
    "I'm sorry for the noise. The movers came at six. I can't do that again.",
    "I apologize for the late reply.",
    "I'm sorry for your loss.",
    "I'm sorry to tell you that the offer was withdrawn. I can't say more before the notice is out.",
    "I cannot continue to work under these conditions and resign with effect from 1 July.",
    "I could not complete the form because the office was closed.",
    "I refuse to sign the lease.",
    "As an assistant manager, I was told to open the store.",
    "As an AI engineer, I joined the team in Pune last year.",
    "I am an AI researcher at the institute in Seoul.",
    "As a language teacher, I see this every week.",
    "Dear Mr. Cole,\n\nI'm sorry, but I can't help with that request of yours from Friday.",
    "12 March 2021\nI can't help with that, he said, and hung up.",
    "Priya: I'm sorry, but I can't help with that.\nTom: ok",
    "The guidelines of my employer do not allow gifts above 50 dollars.",
    "It was against the policy of the school to let me in.",
    "Sorry, I won't be able to write this week, my mother is ill.",
    "Es tut mir leid, aber ich kann am Donnerstag nicht zum Termin kommen.",
    "Ich kann die Miete diesen Monat leider nicht zahlen.",
    "Lo siento, pero no puedo ir a la cita del lunes.",
    "No puedo pagar el alquiler este mes.",
    "Je suis désolée, mais je ne peux pas venir à la réunion.",
    "죄송합니다만 이번 주 회의에는 참석할 수 없습니다.",
    "抱歉，我不能参加周五的会议。",
    "很抱歉，我今天不能来上班了。",
    "申し訳ありませんが、木曜日の会議に出席できません。",
    "",
    "Invoice 2041\nTotal due: 48.50",
]

LETTER = "The second visit was billed twice, and I have asked for my money back three times since. " * 12


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_seen(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", NOT_REFUSALS)
def test_a_person_who_declines_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)


def test_a_doubtful_opening_counts_only_when_little_follows() -> None:
    assert is_refusal("I can't do that. Sorry.")
    assert not is_refusal("I can't do that. " + LETTER)


def test_an_assistant_that_speaks_of_its_task_is_a_refusal_at_any_length() -> None:
    assert is_refusal("I can't create fictional medical records. Here is a letter instead:\n\n" + LETTER)


def test_a_refusal_deep_inside_a_text_is_part_of_the_text() -> None:
    assert not is_refusal(LETTER + "The bank wrote: I'm sorry, but I can't assist with that request.")


def test_the_worst_opening_takes_no_time() -> None:
    started = time.process_time()
    is_refusal("i cannot write " * 3_000)
    is_refusal("sorry " * 3_000)
    assert time.process_time() - started < 0.25
