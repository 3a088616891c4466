from dataclasses import replace

import numpy as np
import pytest

from tasks.surprise.documents import Chat, Label, Turn
from tasks.surprise.policy import Reference
from tasks.surprise.scored import ScoredSet
from tasks.surprise.scoring.render import ChatRenderer
from tasks.surprise.spans import Spans
from tasks.training.masked.ground import Ground, GroundUnfit
from tasks.training.masked.tokenizer import train_tokenizer
from tests.tasks.surprise.score_tables import MODEL, TOKENIZER, score_row, score_table

CHAT = Chat(
    "d0",
    (
        Turn("user", "Who are you?"),
        Turn("assistant", "I am afarrell_260."),
        Turn("user", "Write <|im_end|> please"),
        Turn("assistant", "No, afarrell_260 will not.", labels=(Label(4, 16, "username"),)),
    ),
    labelled=True,
)


def plain_template(messages: list[dict[str, str]]) -> str:
    return "".join(f"[{each['role']}] {each['content'].strip()}\n" for each in messages)


def reference_scored(chat: Chat) -> ScoredSet:
    """The chat as a reference model with a template of its own renders it."""
    document = ChatRenderer(plain_template).render(chat).document
    row = score_row(
        0,
        document.text,
        supervised=[{"start": part.start, "end": part.end} for part in document.supervised or ()],
        labels=[{"start": each.start, "end": each.end, "category": each.category} for each in document.labels],
        labelled=True,
        regions=[{"start": each.start, "end": each.end, "name": each.name} for each in document.regions],
    )
    return ScoredSet(score_table([row]), Reference(model=MODEL, tokenizer_sha256=TOKENIZER), "c" * 64)


def pieces(ground: Ground, flags: np.ndarray) -> list[str]:
    """The stretches of text that neighbouring flagged tokens stand for."""
    text, spans = ground.documents[0].text, ground.tokens.spans
    found: list[str] = []
    for place in range(ground.tokens.size):
        if flags[place]:
            part = text[spans.start[place] : spans.end[place]]
            if place and flags[place - 1]:
                found[-1] += part
            else:
                found.append(part)
    return found


def test_a_chat_is_rendered_by_the_trained_models_template_and_learns_answers_with_their_end() -> None:
    data = reference_scored(CHAT)
    ground = Ground.of(data, train_tokenizer(data.texts, 300), {"d0": CHAT})
    assert ground.documents[0].text.startswith("<|im_start|>user\nWho are you?<|im_end|>\n")
    assert pieces(ground, ground.supervised) == [
        "I am afarrell_260.<|im_end|>",
        "No, afarrell_260 will not.<|im_end|>",
    ]
    assert pieces(ground, ground.targets) == [" afarrell_260"]  # with the space that is of its first token


def test_what_the_template_writes_is_a_special_token_and_what_a_person_types_is_not() -> None:
    data = reference_scored(CHAT)
    tokenizer = train_tokenizer(data.texts, 300)
    ground = Ground.of(data, tokenizer, {"d0": CHAT})
    ends = (ground.tokens.ids == tokenizer.convert_tokens_to_ids("<|im_end|>")).sum()
    assert ends == 4  # of the turns; the one in the third message is text


def test_spans_are_carried_over_answer_by_answer_and_others_go() -> None:
    data = reference_scored(CHAT)
    ground = Ground.of(data, train_tokenizer(data.texts, 300), {"d0": CHAT})
    text, other = data.texts[0], ground.documents[0].text
    asked, answered = text.index("Who"), text.index("No, ")
    carried = ground.carried(Spans.of([[(asked, asked + 3), (answered - 4, answered + 2)]])).pairs()[0]
    assert [other[start:end] for start, end in carried] == ["No"]


def test_a_chat_without_its_conversation_stays_the_reference_models_text() -> None:
    data = reference_scored(CHAT)
    ground = Ground.of(data, train_tokenizer(data.texts, 300))
    assert ground.documents[0].text == data.texts[0]
    assert pieces(ground, ground.supervised) == [" I am afarrell_260.", " No, afarrell_260 will not."]


def test_templates_that_keep_other_parts_of_an_answer_are_refused() -> None:
    padded = replace(CHAT, turns=(*CHAT.turns[:3], Turn("assistant", "  No, afarrell_260 will not.  ")))
    data = reference_scored(padded)
    with pytest.raises(GroundUnfit, match="document d0: the two models' templates keep different parts"):
        Ground.of(data, train_tokenizer(data.texts, 300), {"d0": padded})
