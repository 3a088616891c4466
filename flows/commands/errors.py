"""Errors that a person can do something about: told in a message, without a traceback, each kind with an exit code."""

from enum import IntEnum

from flows.budget import BudgetSpent
from flows.config import ConfigError
from infra.engines.models import ModelMissing
from infra.engines.process import EngineFailed
from infra.engines.simulator.process import SimulatorFailed
from infra.engines.vllm_server import EngineMissing
from infra.llm.prices import UnknownPrice
from infra.llm.types import BackendUnavailable
from infra.packages import PackageMissing
from infra.prefect_local import PrefectUnavailable
from infra.ray.cluster import ClusterUnusable
from infra.ray.keeper import KeeperUnavailable
from infra.ray.versions import VersionsDiffer
from infra.ray.worker import JobStopped, WorkerDied
from infra.shards.checks import SchemaMismatch
from infra.shards.frames import JournalCorrupt
from infra.shards.lease import LeaseCorrupt, LeaseHeld, LeaseLost
from infra.shards.manifest import AlreadyCommitted, ManifestCorrupt
from infra.shards.parquet import TableDamaged
from infra.shards.s3 import StorageRefused, StorageUnavailable
from infra.stack.control import PortTaken
from infra.stack.folder import StackBusy
from infra.stack.ray_head import TemporaryFolderTaken
from infra.stack.supervisor import StackFailed
from tasks.report.marks import visible
from tasks.shards.retrying.choice import NotCurrent, NothingToAsk
from tasks.surprise.reading.raw import InputUnfit
from tasks.surprise.reference.steps import ModelChanged, ModelUnfit


class Code(IntEnum):
    """What the command exits with, unless it was interrupted (128 and the signal's number) or has a bug (1)."""

    DONE = 0
    USAGE = 2
    OUTSIDE = 3
    DAMAGE = 4


class RunFailed(Exception):
    """Shards of a run did not get done; the message says how many and why.

    Attributes:
        code: that of the gravest reason.
    """

    def __init__(self, message: str, code: Code) -> None:
        super().__init__(message)
        self.code = code


_KINDS: dict[Code, tuple[type[Exception], ...]] = {
    Code.USAGE: (ConfigError, InputUnfit, ModelUnfit, UnknownPrice),
    Code.DAMAGE: (ManifestCorrupt, JournalCorrupt, LeaseCorrupt, SchemaMismatch, TableDamaged),
    Code.OUTSIDE: (
        AlreadyCommitted,
        BackendUnavailable,
        BudgetSpent,
        ClusterUnusable,
        EngineFailed,
        EngineMissing,
        JobStopped,
        KeeperUnavailable,
        LeaseHeld,
        LeaseLost,
        ModelChanged,
        ModelMissing,
        NotCurrent,
        NothingToAsk,
        OSError,  # no room, no permission, no such file: what the system says names the place
        PackageMissing,
        PortTaken,
        PrefectUnavailable,
        SimulatorFailed,
        StorageRefused,
        StorageUnavailable,
        StackBusy,
        StackFailed,
        TemporaryFolderTaken,
        VersionsDiffer,
        WorkerDied,
    ),
}


EXPECTED: tuple[type[Exception], ...] = (RunFailed, *(kind for kinds in _KINDS.values() for kind in kinds))


def code_of(error: BaseException) -> Code | None:
    """Return the exit code of an expected error, None for a bug."""
    if isinstance(error, RunFailed):
        return error.code
    return next((code for code, kinds in _KINDS.items() if isinstance(error, kinds)), None)


def message_of(error: BaseException) -> str:
    """Say what went wrong; servers and files may have put anything into it."""
    text = str(error.args[0]) if isinstance(error, LookupError) and error.args else str(error)
    return visible(text)
