import math
import re
from typing import Any

import pytest
from rich.console import Console

from tasks.surprise.calibrate import TargetRecall
from tasks.surprise.explain.page import page
from tasks.surprise.explain.terminal import render
from tasks.surprise.explain.view import Explained, explain, heat_of
from tasks.surprise.metrics import Counts
from tasks.surprise.policy import Achieved, Policy, PolicyMismatch, Reference
from tasks.surprise.procedure import FixedWindows, Procedure, Propagation
from tasks.surprise.rules import GlobalRule, LocalRule
from tasks.surprise.scored import ScoredSet
from tests.tasks.surprise.score_tables import MODEL, TOKENIZER, score_row, score_table

REFERENCE = Reference(model=MODEL, tokenizer_sha256=TOKENIZER)
COUNTS = Counts(true_positives=1, false_positives=0, false_negatives=0, true_negatives=1)
WORDS = ["Please", " call", " Jane", " at", " 555", "-", "014", "7", " tomorrow", "."]  # SM Figure 1
NLL = [2.6, 1.4, 4.5, 1.1, 6.5, 1.4, 6.9, 3.3, 2.1, 0.4]


def policy(procedure: Procedure, threshold: float) -> Policy:
    achieved = Achieved(
        unit="token", counts=COUNTS, recall=1.0, collateral=0.0, f1=1.0, mask_everything_f1=0.5, auroc=1.0
    )
    return Policy(
        reference=REFERENCE,
        procedure=procedure,
        threshold=threshold,
        goal=TargetRecall(recall=0.95),
        validation_sha256="0" * 64,
        achieved=achieved,
    )


FIGURE_1 = policy(Procedure(windows=FixedWindows(width=2), rule=GlobalRule()), 3.9)


def scored(words: list[str], nll: list[float], **changed: Any) -> ScoredSet:
    ends = [len("".join(words[: place + 1])) for place in range(len(words))]
    row = score_row(
        0,
        "".join(words),
        {"plain": nll},
        token_ids=[sum(map(ord, word)) for word in words],
        token_starts=[0, *ends[:-1]],
        token_ends=ends,
        **changed,
    )
    return ScoredSet(score_table([row]), REFERENCE, "s")


def test_figure_1_is_explained() -> None:
    explained = explain(scored(WORDS, NLL), FIGURE_1)
    assert [piece.text for piece in explained.pieces] == WORDS
    assert [piece.masked for piece in explained.pieces] == [False] * 4 + [True] * 4 + [False] * 2
    assert [run.text for run in explained.runs] == [" 555-0147"]
    number = explained.pieces[6]
    assert number.window == pytest.approx(5.10)
    assert (number.selected, number.windows) == (2, 2)
    assert explained.runs[0].mean == pytest.approx((6.5 + 1.4 + 6.9 + 3.3) / 4)
    assert explained.rule == "windows of 2 tokens with mean score of at least 3.9"


def test_bytes_of_one_character_share_a_piece_and_a_missing_score_is_none() -> None:
    row = score_row(
        0,
        "a😀",
        {"plain": [math.nan, 1.0, 2.0, 9.0]},
        token_ids=[1, 2, 3, 4],
        token_starts=[0, 1, 1, 1],
        token_ends=[1, 2, 2, 2],
    )
    first, second = explain(ScoredSet(score_table([row]), REFERENCE, "s"), None).pieces
    assert first.scores == (None,)
    assert (second.text, second.scores, second.heat) == ("😀", (1.0, 2.0, 9.0), heat_of(9.0))


def test_repeats_are_told_from_what_windows_select() -> None:
    words, nll = ["x", "9", "a", "x", "9"], [6.0, 6.0, 1.0, 0.0, 0.0]
    procedure = Procedure(windows=FixedWindows(width=2), rule=GlobalRule(), propagation=Propagation(width=2))
    pieces = explain(scored(words, nll), policy(procedure, 6.0)).pieces
    assert [(piece.masked, piece.propagated) for piece in pieces] == [
        (True, False),
        (True, False),
        (False, False),
        (True, True),
        (True, True),
    ]


def test_local_rules_are_put_in_words() -> None:
    local = policy(Procedure(windows=FixedWindows(width=2), rule=LocalRule(), consensus=2), 25.0)
    assert "less than 25 % of up to 64 neighbours" in explain(scored(WORDS, NLL), local).rule


def test_another_model_is_refused() -> None:
    other = FIGURE_1.model_copy(update={"reference": Reference(model="other", tokenizer_sha256=TOKENIZER)})
    with pytest.raises(PolicyMismatch):
        explain(scored(WORDS, NLL), other)


def hostile() -> Explained:
    words = ["<script>", "alert('x')", "\x1b[31m", "[bold]", '" onmouseover="']
    labels = [{"start": 0, "end": 8, "category": "<img>"}]
    return explain(scored(words, [9.0, 1.0, 1.0, 1.0, 9.0], labels=labels), FIGURE_1)


def test_a_page_holds_text_as_text_and_asks_for_nothing() -> None:
    html = page(hostile(), "<b>.py", {"model": "<i>m</i>"})
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert not re.search(r'<[^>]*onmouseover="', html)
    assert not any(part in html for part in ("<img", "<b>", "<i>", "\x1b"))
    assert not re.search(r"(src|href)=|url\(|https?://", html)
    assert "default-src 'none'" in html


def test_a_page_shows_all_of_the_text_and_its_scores() -> None:
    html = page(explain(scored(WORDS, NLL), FIGURE_1), "call.txt", {})
    pre = html[html.index("<pre") : html.index("</pre>")]
    assert re.sub(r"<[^>]*>", "", pre).lstrip("\n") == "".join(WORDS)
    assert "NLL 6.90 nats · window 5.10 · 2 of 2 windows selected · masked" in html


def test_a_terminal_brackets_what_is_masked_and_takes_no_orders() -> None:
    console = Console(force_terminal=False, width=200, record=True, file=None)
    with console.capture() as capture:
        console.print(render(explain(scored(WORDS, NLL), FIGURE_1), "call.txt"))
        console.print(render(hostile(), "[red]"))
    shown = capture.get()
    assert "Please call Jane at⟦ 555-0147⟧ tomorrow." in shown
    assert "\x1b" not in shown
    assert "[bold]" in shown
