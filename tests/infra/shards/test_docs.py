import re
from pathlib import Path


def test_the_example_of_the_page_runs() -> None:
    page = (Path(__file__).parents[3] / "docs/shards.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(example, "docs/shards.md", "exec"), {})
