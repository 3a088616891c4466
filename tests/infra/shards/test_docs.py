import re
from pathlib import Path
from typing import Any


def test_the_example_of_the_page_runs() -> None:
    page = (Path(__file__).parents[3] / "docs/shards.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, "docs/shards.md", "exec"), names)
    assert names["store"].read("notes")["note_id"].to_pylist() == [f"n{index}" for index in range(100)]
