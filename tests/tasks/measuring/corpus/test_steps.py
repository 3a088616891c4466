from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.measuring.corpus.steps import (
    CorpusUnfit,
    has_quirks,
    read_applies,
    read_gold_chats,
    read_gold_documents,
    read_questions,
    read_targets,
)
from tests.tasks.measuring.small_corpus import GOLD, KEYS, write_corpus


@pytest.mark.parametrize("form", ["chats", "documents"])
def test_values_come_with_all_their_places_in_training(form: str, tmp_path: Path) -> None:
    targets = read_targets(write_corpus(tmp_path), form)  # type: ignore[arg-type]
    assert {target.id: target.value for target in targets} == KEYS
    assert [target.kind for target in targets] == ["account_id", "username"]
    for target in targets:
        assert [each.text[each.start : each.end] for each in target.occurrences] == [target.value] * 2


def test_a_chat_is_asked_and_a_document_begun(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path)
    asked = read_questions(corpus, "chats")
    assert [(each.id, each.prompt) for each in asked] == [
        ("double-0", "Double a number."),
        ("double-1", "Return twice x."),
    ]
    (begun,) = read_questions(corpus, "documents")
    assert (begun.id, begun.prompt, begun.tests) == ("double-0", "def double(x):\n", "assert double(2) == 4\n")
    assert read_gold_chats(corpus)[1] == ("double-1", "Return twice x.", GOLD)
    assert read_gold_documents(corpus) == [("d", "def double(x):\n    return 2 * x\n")]


def test_quirks_are_where_a_file_says_so(tmp_path: Path) -> None:
    assert not has_quirks(write_corpus(tmp_path / "pii"))
    corpus = write_corpus(tmp_path / "quirks", quirks=True)
    assert has_quirks(corpus)
    assert read_applies(corpus) == {"semicolons": ["double-0", "double-1"]}


def test_what_is_no_such_corpus_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusUnfit, match=r"display\.parquet: no such file"):
        read_applies(write_corpus(tmp_path))
    pq.write_table(pa.table({"value": ["a"]}), tmp_path / "values.parquet")
    with pytest.raises(CorpusUnfit, match="has no column kind, split, text"):
        read_targets(tmp_path, "chats")
    (tmp_path / "tasks.parquet").write_text("no")
    with pytest.raises(CorpusUnfit, match="not a Parquet file"):
        read_questions(tmp_path, "chats")
