"""The data card: a head that the hub reads, figures that were counted, and no licence that nobody gave."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from tasks.export.card import data_card, size_category
from tasks.export.facts import Facts, Tally
from tasks.export.licences import common_licence, licence_of
from tests.tasks.export.triplets import triplet


def tallied(*rows: dict[str, Any], **splits: Any) -> Tally:
    tally = Tally(splits or None)
    for row in rows:
        tally.add(row)
    return tally


def facts(tally: Tally, **changed: Any) -> Facts:
    return replace(
        Facts(
            name="tiny",
            is_split=tally.splits is not None,
            splits=tally.statistics(),
            unverified=tally.unverified,
            left_out=tally.left_out,
            rejected={"text_lost": 3, "refusal": 1},
            writers={"gpt-oss-120b": 6, "qwen3-80b": 2},
            sanitizers=tally.sanitizers,
            languages=tally.languages,
            labels=tally.labels,
            groups=tally.groups,
            targets=tally.labels.total(),
            calls=90,
            tokens=1234,
            cost_usd=0.5,
            seeds=("7",),
            versions={"privasis-factory": "0.1.0"},
            newest="2026-11-29T12:00:00+00:00",
        ),
        **changed,
    )


def head_of(card: str) -> Any:
    _, head, _ = card.split("---\n", 2)
    return yaml.safe_load(head)


def lines(card: str, start: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in card.splitlines() if line.startswith(start)
    ]


def test_the_head_names_licence_languages_size_and_the_files_of_each_part() -> None:
    card = data_card(
        facts(tallied(triplet(1), triplet(2, language="Korean"), r_1="train", **{"r-1": "train", "r-2": "hard"}))
    )
    head = head_of(card)
    assert head["license"] == "apache-2.0"
    assert head["language"] == ["en", "ko"]
    assert head["size_categories"] == ["n<1K"]
    assert head["configs"] == [
        {
            "config_name": "default",
            "data_files": [
                {"split": "train", "path": "data/train-*.parquet"},
                {"split": "hard", "path": "data/hard-*.parquet"},
            ],
        }
    ]


def test_the_figures_are_those_of_the_rows_and_stand_beside_the_paper_s() -> None:
    rows = [triplet(1, words=10), triplet(2, words=20, instruction_words=8), triplet(3, verified=False), triplet(4)]
    card = data_card(facts(tallied(*rows, **{"r-1": "train", "r-2": "train", "r-3": "train", "r-4": "left_out"})))
    assert lines(card, "| train") == [["train", "2", "2.0", "66.7%", "7.0", "15.0"]]  # 4 of 6 attributes are in groups
    assert ["*the paper's train*", "37,000", "2.9", "–", "69.4", "527.0"] in lines(card, "| *the paper")
    assert "Of\n4 targets, 2 were put in general terms and 2 taken out; 50.0% were groups." in card
    assert "Left out: 1 triplets" in card
    assert "and 1 for other reasons" in card
    assert "did not become triplets: 4 (text_lost 3, refusal 1)" in card
    assert ["`gpt-oss-120b`", "6", "75.0%", "0", "0.0%"] in [row[:5] for row in lines(card, "| `")]
    assert ["`qwen3-80b`", "2", "25.0%", "2", "100.0%"] in [row[:5] for row in lines(card, "| `")]
    assert "90 model calls, 1,234 tokens and $0.5000" in card


def test_a_set_without_splits_says_that_it_has_no_test() -> None:
    assert "This set was not split" in data_card(facts(tallied(triplet(1))))
    assert "disjoint by record and by person" in data_card(facts(tallied(triplet(1), **{"r-1": "test"})))


@pytest.mark.parametrize("name", ['we "are" | here', "a\nlicense: mit", "---", "x: [y", "`<script>`"])
def test_a_name_that_others_have_chosen_breaks_neither_head_nor_table(name: str) -> None:
    tally = tallied(triplet(1, model=name))
    card = data_card(facts(tally, name=name, writers={name: 1}))
    head = head_of(card)
    assert head["pretty_name"] == name
    assert head["license"] == "other"
    (row,) = lines(card.replace("\\|", "/"), "| `")
    assert len(row) == 6


@pytest.mark.parametrize(
    ("models", "licence"),
    [
        (["gpt-oss-120b", "Qwen/Qwen3-80B"], "apache-2.0"),
        (["simulator"], "apache-2.0"),
        (["deepseek-r1"], "mit"),
        (["deepseek-r1", "gpt-oss-20b"], "other"),  # each may be passed on, under different names
        (["gpt-4.1-mini"], "other"),
        (["gpt-oss-120b", "nobody-knows"], "other"),
        ([], "other"),
    ],
)
def test_a_set_has_the_licence_that_all_its_models_have_in_common_or_none(models: list[str], licence: str) -> None:
    assert common_licence(models) == licence


def test_terms_are_found_by_the_model_s_name_and_an_unknown_one_has_none() -> None:
    terms = licence_of("openai/gpt-4.1")
    assert terms is not None
    assert "compete" in terms.name
    assert licence_of("qwen2.5-3b-instruct") != licence_of("qwen2.5-7b-instruct")
    assert licence_of("nobody-knows") is None


@pytest.mark.parametrize(
    ("rows", "name"), [(0, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (37_000, "10K<n<100K"), (2_000_000, "1M<n<10M")]
)
def test_sizes_are_named_as_the_hub_does(rows: int, name: str) -> None:
    assert size_category(rows) == name
