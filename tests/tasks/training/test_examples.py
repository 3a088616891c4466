from pathlib import Path

import numpy as np
import pytest

from tasks.training.examples import IGNORED, Example, ExampleFile, encoded

TWO = (
    Example(
        "a",
        *(np.array(each, dtype) for each, dtype in (([5, 6, 7], "i4"), ([IGNORED, 6, 7], "i4"), ([0, 1, 0.5], "f4"))),
    ),
    Example("b", *(np.array(each, dtype) for each, dtype in (([8, 9], "i4"), ([IGNORED, 9], "i4"), ([0, 2], "f4")))),
)


def test_examples_come_back_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "x.arrow").write_bytes(encoded(TWO))
    file = ExampleFile(tmp_path / "x.arrow")
    assert len(file) == 2
    assert file.lengths.tolist() == [3, 2]
    assert file.weights.tolist() == [1.5, 2.0]
    for written, read in zip(TWO, (file[0], file[1]), strict=True):
        assert read.id == written.id
        for name in ("ids", "labels", "loss_weight"):
            np.testing.assert_array_equal(getattr(read, name), getattr(written, name))
            assert getattr(read, name).dtype == getattr(written, name).dtype


def test_the_same_examples_are_the_same_bytes() -> None:
    assert encoded(TWO) == encoded(iter(TWO))
    assert encoded(TWO) != encoded(TWO[::-1])


def test_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ExampleFile(tmp_path / "x.arrow")
