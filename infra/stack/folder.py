"""Where a stack keeps what it has: secrets of mode 600, logs, the database, the state, a lock."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

USER = "privasis"  # what the dashboard's one account is called; Prefect asks for "user:password"


class StackBusy(Exception):
    """Another process starts or supervises the stack of this folder."""


@dataclass(frozen=True)
class StackFolder:
    """The folder of one stack.

    Attributes:
        home: only its owner may enter it.
    """

    home: Path

    @property
    def state(self) -> Path:
        """What the supervisor says about itself and its parts."""
        return self.home / "state.json"

    @property
    def prefect(self) -> Path:
        """``PREFECT_HOME`` of all parts: the database (SQLite) and the pages."""
        return self.home / "prefect"

    @property
    def logs(self) -> Path:
        """A log file for each part, and one of the supervisor."""
        return self.home / "logs"

    @property
    def password(self) -> Path:
        """The dashboard's and the API's ``user:password``."""
        return self.home / "password"

    @property
    def ray_token(self) -> Path:
        """What a process shows to the Ray head."""
        return self.home / "ray-token"

    def make(self) -> None:
        """Make the folder and its secrets, if they are not there."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.home.chmod(0o700)
        self.prefect.mkdir(exist_ok=True)
        self.logs.mkdir(exist_ok=True)
        _keep(self.password, f"{USER}:{secrets.token_urlsafe(24)}")
        _keep(self.ray_token, secrets.token_hex(32))

    def auth_string(self) -> str:
        """Return ``user:password`` of the API."""
        return self.password.read_text(encoding="utf-8").strip()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the only supervisor of this folder as long as the block lasts; the kernel lets go when the process ends.

        Raises:
            StackBusy: another process is it.
        """
        with (self.home / "supervisor.lock").open("w") as lock:
            os.set_inheritable(lock.fileno(), False)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise StackBusy(f"another supervisor has {self.home}: `privasis ps` shows it") from error
            yield


def _keep(file: Path, secret: str) -> None:
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        file.chmod(0o600)
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as sink:
        sink.write(secret + "\n")
