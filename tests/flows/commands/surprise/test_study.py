from pathlib import Path

import pytest

from flows.commands.errors import Code, code_of
from flows.commands.surprise.study import run
from flows.config import ConfigError


@pytest.mark.parametrize("benchmark", ["dead-code", "creddata", "presidio-research", "hallmark", "piibench"])
def test_a_folder_without_the_benchmark_is_told_before_anything_starts(benchmark: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \S+ .*in it or in one of its folders") as told:
        run(benchmark, tmp_path, tmp_path / "out", None, (), 1)
    assert code_of(told.value) == Code.USAGE


def test_a_misspelled_method_is_told_before_anything_is_scored(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--method credswepper: there are"):
        run("creddata", tmp_path, tmp_path / "out", None, ("credswepper",), 1)
