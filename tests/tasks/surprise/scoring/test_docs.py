import re
from pathlib import Path

import pytest

from tests.tasks.surprise.scoring.tiny import chat_tokenizer, llama

PAGE = Path(__file__).parents[4] / "docs" / "scoring.md"


def test_the_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llama().save_pretrained(tmp_path)
    chat_tokenizer("").save_pretrained(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    here = example.replace("smollm2-135m", str(tmp_path))
    assert here != example
    capsys.readouterr()  # what saving prints
    exec(compile(here, str(PAGE), "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert all(re.fullmatch(r"\d+ \d+ \d+\.\d\d \d+\.\d\d", line) for line in lines)
