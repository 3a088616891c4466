import re
from pathlib import Path

from tests.tasks.measuring.small_corpus import write_corpus
from tests.tasks.surprise.scoring.tiny import chat_tokenizer, qwen3

PAGE = Path(__file__).parents[3] / "docs" / "attacks.md"


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {"model": qwen3(), "tokenizer": chat_tokenizer(""), "corpus": write_corpus(tmp_path)}
    exec(compile(example, str(PAGE), "exec"), names)
    rate = names["result"].rate(128)  # type: ignore[attr-defined]
    assert (rate.exact.of, len(names["result"].attempts[0].continuations)) == (2, 128)  # type: ignore[attr-defined]
