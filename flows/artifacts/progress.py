"""How far a deployment's run is, as an artifact of the run that is brought up to date every few seconds."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact

from flows.artifacts.markdown import escaped
from flows.artifacts.run import UNHEARD, is_deployed, key_of
from flows.commands.wording import counted, duration
from infra.run_state import RunState
from tasks.report.formats import usd

logger = logging.getLogger(__name__)

KEY = "progress"
EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: of ``total``.
        detail: one line.
    """

    done: int
    total: int
    detail: str

    @property
    def percent(self) -> float:
        """What Prefect draws, 0 to 100."""
        return 100.0 if self.total <= 0 else min(100.0, 100.0 * self.done / self.total)


def progress_of(state: RunState) -> Progress:
    """Say how far a run is in one line: shards, rejects, money, time."""
    shards, money = state.shards, state.money
    parts = [
        f"{counted(shards.committed, 'shard')} committed, {shards.running:,} under way, {shards.waiting:,} waiting"
    ]
    if rejected := state.finished - state.done.get("records", 0):
        parts.append(f"{rejected:,} rejected")
    if money.spent_usd:
        projected = f" of about {usd(money.projected_usd)}" if money.projected_usd is not None else ""
        parts.append(f"{usd(money.spent_usd)}{projected}")
    if state.stopping:
        parts.append("stopping")
    elif state.eta_s:
        parts.append(f"{duration(state.eta_s / 3600)} to go")
    return Progress(state.finished, state.rows, "; ".join(parts))


@contextmanager
def progress_told(of: str, read: Callable[[], Progress | None], every_s: float = EVERY_S) -> Iterator[None]:
    """Keep the run's progress artifact up to date for the length of the block; without a deployment, do nothing.

    Args:
        of: what is made, such as a data set and a stage: part of the artifact's key.
        read: says how far it is; None while nobody knows.
        every_s: seconds between two looks.
    """
    if not is_deployed():
        yield
        return
    teller, ended = _Teller(key_of(KEY, of), read), threading.Event()

    def follow() -> None:
        teller.tell()
        while not ended.wait(every_s):
            teller.tell()
        teller.tell()

    # What the artifact belongs to is known by the context, and a thread begins with none.
    thread = threading.Thread(target=copy_context().run, args=(follow,), name="progress artifact")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@dataclass
class _Teller:
    key: str
    read: Callable[[], Progress | None]
    _artifact: UUID | None = None
    _told: Progress | None = None

    def tell(self) -> None:
        """Write down how far it is, if that has changed; a server that does not answer is asked again later."""
        progress = self.read()
        if progress is None or progress == self._told:
            return
        try:
            if self._artifact is None:
                made = create_progress_artifact(progress.percent, key=self.key, description=_text(progress))
                self._artifact = made if isinstance(made, UUID) else None
            else:
                update_progress_artifact(self._artifact, progress.percent, description=_text(progress))
        except UNHEARD as error:
            logger.warning("the run's page shows an old progress, Prefect did not take the new one: %s", error)
            return
        self._told = progress


def _text(progress: Progress) -> str:
    return escaped(f"{progress.done:,} of {progress.total:,}: {progress.detail}")
