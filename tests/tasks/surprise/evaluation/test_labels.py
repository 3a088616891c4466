import pytest

from tasks.surprise.documents import Document, Label
from tasks.surprise.evaluation.calibration import digest, fingerprint
from tasks.surprise.evaluation.labels import LabelsUnfit, by_document, check_known, with_labels

DOCUMENTS = [Document("a", "abcdef", labels=(Label(0, 1),), strata={"language": "x"}), Document("b", "gh")]


def test_a_file_speaks_of_all_documents() -> None:
    rows = [{"document_id": "a", "start": 3, "end": 5}, {"document_id": "a", "start": 1, "end": 2, "category": "k"}]
    first, second = with_labels(DOCUMENTS, by_document(rows))
    assert first.labels == (Label(1, 2, "k"), Label(3, 5, "private"))
    assert (second.labels, second.labelled) == ((), True)


def _labelled(rows: list[dict[str, object]]) -> list[Document]:
    labels = by_document(rows)
    check_known(labels, [document.id for document in DOCUMENTS])
    return with_labels(DOCUMENTS, labels)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"document_id": "a", "start": 3}, "row 0: no end"),
        ({"document_id": "z", "start": 0, "end": 1}, "'z' is not among"),
        ({"document_id": "b", "start": 0, "end": 3}, "ends after the text of 2"),
        ({"document_id": "b", "start": 2, "end": 2}, "code points"),
        ({"document_id": "b", "start": 0.5, "end": 2}, "row 0: start and end are whole numbers"),
        ({"document_id": "b", "start": "0", "end": "2"}, "row 0: start and end are whole numbers"),
        ({"document_id": "b", "start": True, "end": 2}, "row 0: start and end are whole numbers"),
    ],
)
def test_a_row_that_fits_no_text_is_named(row: dict[str, object], told: str) -> None:
    with pytest.raises(LabelsUnfit, match=told):
        _labelled([row])


def test_the_fingerprint_does_not_depend_on_order_but_on_every_label() -> None:
    hashes = [digest(document) for document in DOCUMENTS]
    assert fingerprint(hashes) == fingerprint(hashes[::-1])
    assert fingerprint(hashes) != fingerprint(map(digest, with_labels(DOCUMENTS, {})))
