"""Which requests went out with which batch: written down before it is waited for, read again after a crash."""

import secrets
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from infra.shards import files
from infra.shards.location import Location


class _Batch(BaseModel):
    """One batch: its label is ours and comes first, its id the server's."""

    model_config = ConfigDict(extra="forbid")

    label: str
    names: list[str]
    id: str | None = None


class _Ledger(BaseModel):
    model_config = ConfigDict(extra="forbid")

    batches: list[_Batch] = []


class BatchLedger:
    """The batches of one stage, in a small file that is replaced whole.

    Args:
        path: where; read if it is there.

    Raises:
        ValueError: it is damaged.
    """

    def __init__(self, path: Location) -> None:
        self._path = path
        data = files.read(path)
        self._ledger = _Ledger() if data is None else _Ledger.model_validate_json(data)

    def begin(self, names: Sequence[str]) -> str:
        """Write down that ``names`` are about to go out, and return the label to mark their batch with."""
        label = f"privasis-{secrets.token_hex(12)}"
        self._ledger.batches.append(_Batch(label=label, names=list(names)))
        self._write()
        return label

    def number(self, label: str, batch_id: str) -> None:
        """Write down the id that the server gave the batch."""
        self._of_label(label).id = batch_id
        self._write()

    def forget(self, label: str) -> None:
        """Strike out a batch that never reached the server."""
        self._ledger.batches.remove(self._of_label(label))
        self._write()

    def names(self, batch_id: str) -> list[str]:
        """Return the requests of a batch."""
        return self._of_id(batch_id).names

    def ids(self) -> list[str]:
        """Return the ids of all batches."""
        return [batch.id for batch in self._ledger.batches if batch.id is not None]

    def unnumbered(self) -> list[str]:
        """Return the labels of batches of which nobody knows whether they reached the server."""
        return [batch.label for batch in self._ledger.batches if batch.id is None]

    def _of_label(self, label: str) -> _Batch:
        return next(batch for batch in self._ledger.batches if batch.label == label)

    def _of_id(self, batch_id: str) -> _Batch:
        return next(batch for batch in self._ledger.batches if batch.id == batch_id)

    def _write(self) -> None:
        files.put(self._path, self._ledger.model_dump_json(indent=1).encode())
