import pytest

from tasks.surprise.documents import Document, Label
from tasks.surprise.evaluation.calibration import fingerprint
from tasks.surprise.evaluation.labels import LabelsUnfit, with_labels
from tasks.surprise.evaluation.notation import Misspelled
from tasks.surprise.evaluation.subsets import strata

DOCUMENTS = [Document("a", "abcdef", labels=(Label(0, 1),), strata={"language": "x"}), Document("b", "gh")]


def test_a_file_speaks_of_all_documents() -> None:
    first, second = with_labels(
        DOCUMENTS,
        [{"document_id": "a", "start": 3, "end": 5}, {"document_id": "a", "start": 1, "end": 2, "category": "k"}],
    )
    assert first.labels == (Label(1, 2, "k"), Label(3, 5, "private"))
    assert (second.labels, second.labelled) == ((), True)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"document_id": "a", "start": 3}, "row 0: no end"),
        ({"document_id": "z", "start": 0, "end": 1}, "'z' is not among"),
        ({"document_id": "b", "start": 0, "end": 3}, "ends after the text of 2"),
        ({"document_id": "b", "start": 2, "end": 2}, "code points"),
    ],
)
def test_a_row_that_fits_no_text_is_named(row: dict[str, object], told: str) -> None:
    with pytest.raises(LabelsUnfit, match=told):
        with_labels(DOCUMENTS, [row])


def test_documents_without_a_stratum_are_in_no_group() -> None:
    assert {name: rows.tolist() for name, rows in strata(DOCUMENTS, "language").items()} == {"x": [True, False]}
    with pytest.raises(Misspelled, match="category, language"):
        strata(DOCUMENTS, "repository")


def test_the_fingerprint_does_not_depend_on_order_but_on_every_label() -> None:
    assert fingerprint(DOCUMENTS) == fingerprint(DOCUMENTS[::-1])
    assert fingerprint(DOCUMENTS) != fingerprint(with_labels(DOCUMENTS, []))
