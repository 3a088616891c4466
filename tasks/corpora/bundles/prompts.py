"""What utility is measured with: prompts of tasks that training has not seen, and the tests that run an answer."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from tasks.corpora.bundles.task import code_of
from tasks.corpora.rows import CorpusNotReadable

TASKS_FILE = "tasks.parquet"


@dataclass(frozen=True, slots=True)
class TestedPrompt:
    """One prompt.

    Attributes:
        id: of the row in ``chats/development.parquet``.
        task: its task; two prompts may have one.
        prompt: the user's message.
        gold: the right answer, as an assistant gives it.
        tests: statements that follow the code of an answer.
    """

    id: str
    task: str
    prompt: str
    gold: str
    tests: str

    def program(self, answer: str) -> str:
        """Return the program that ends well if and only if the code in an answer passes: for ``infra.sandbox``."""
        return f"{code_of(answer)}\n\n{self.tests}"


def read_prompts(corpus: Path) -> list[TestedPrompt]:
    """Read the prompts of a corpus.

    Raises:
        CorpusNotReadable: the folder holds none.
    """
    return [TestedPrompt(**row) for row in rows(corpus / TASKS_FILE)]


def rows(path: Path, columns: list[str] | None = None) -> list[dict[str, object]]:
    """Read a table of a corpus.

    Raises:
        CorpusNotReadable: there is none.
    """
    if not path.is_file():
        raise CorpusNotReadable(f"{path}: no such file: `privasis corpus` writes it")
    found: list[dict[str, object]] = pq.read_table(path, columns=columns).to_pylist()
    return found
