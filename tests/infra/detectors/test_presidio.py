"""Presidio's pattern recognizers over a spaCy model without any component; a real model only adds names and places."""

import pytest

pytest.importorskip("presidio_analyzer", reason="needs the extra `presidio`")

import spacy
from tldextract import TLDExtract

from infra.detectors.presidio import Presidio
from infra.engines.models import ModelMissing
from tests.infra.detectors.network import refused

TEXTS = ["Été : mail jane.doe@example.com or call 212-555-0147.", "nothing here", "", "card 4012888888881881"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("spacy") / "blank"
    spacy.blank("en").to_disk(folder)
    return str(folder)


def test_addresses_numbers_and_cards_are_found_without_the_network(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = refused(monkeypatch)
    monkeypatch.setattr("tldextract.tldextract.TLD_EXTRACTOR", TLDExtract(cache_dir=None))  # as on a first day
    presidio = Presidio(model, score=0.4)
    found = presidio(TEXTS, ["a.txt"] * len(TEXTS))
    values = [[text[start:end] for start, end in row] for text, row in zip(TEXTS, found, strict=True)]
    longest = [max(row, key=len, default="") for row in values]
    assert longest == ["jane.doe@example.com", "", "", "4012888888881881"]
    assert "212-555-0147" in values[0]
    assert asked == []


def test_a_missing_model_is_named_and_not_fetched() -> None:
    with pytest.raises(ModelMissing, match="en_core_web_of_nobody"):
        Presidio("en_core_web_of_nobody")
