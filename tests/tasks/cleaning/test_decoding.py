from pathlib import Path

import pytest

from tasks.cleaning.batches.folder import FolderBatch
from tasks.cleaning.decoding import NotText, decoded


@pytest.mark.parametrize("text", ["", "Ann came.\r\n", "Zoë 😀", "\ufeffAnn"])
def test_a_text_in_utf_8_is_read_as_it_is(text: str) -> None:
    assert decoded(text.encode()) == text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"Zo\xeb came.", "byte 2 is not UTF-8"),
        ("Ann".encode("utf-16"), "byte 0 is not UTF-8"),
        ("Ann".encode("utf-16-le"), "byte 1 is NUL"),
        (b"\0\0", "byte 0 is NUL"),
    ],
)
def test_what_is_no_text_is_told_with_its_place(data: bytes, said: str) -> None:
    with pytest.raises(NotText, match=said):
        decoded(data)


def test_a_file_that_is_no_text_is_a_failure_and_not_passed_on(tmp_path: Path) -> None:
    source = tmp_path / "notes"
    source.mkdir()
    (source / "a.txt").write_bytes("Ann came.".encode("utf-16-le"))
    (source / "b.txt").write_bytes(b"Ann came.")
    with FolderBatch(source, tmp_path / "clean") as batch:
        (documents,) = batch.parts()
    assert [(each.name, each.text) for each in documents] == [("a.txt", None), ("b.txt", "Ann came.")]
    assert [each.unusable and each.unusable.reason for each in documents] == ["not_utf8", None]
