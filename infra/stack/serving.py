"""The Prefect server of a container, and beside it what ``privasis up`` does, too: looking after runs.

There is one server, and so there is one who looks; workers may be many.
"""

import signal
import subprocess
from collections.abc import Callable, Sequence
from types import FrameType

from infra.stack.lost_runs import look_after_runs
from infra.stack.prefect_api import ApiAway, ApiRefused, PrefectApi

ROUND_S = 5.0


def serve(command: Sequence[str], api: PrefectApi, say: Callable[[str], None], round_s: float = ROUND_S) -> int:
    """Run a server until it ends, or until SIGTERM or Ctrl-C, which it is handed.

    Args:
        command: becomes the server; it has the environment of this process.
        api: of that server.
        say: hears what became of runs.
        round_s: from one look at the runs to the next.

    Returns:
        the server's exit status; 128 and the signal's number if one ended it, as a shell says it.
    """
    server = subprocess.Popen(command)

    def hand_on(number: int, _: FrameType | None) -> None:
        server.send_signal(number)

    before = [(number, signal.signal(number, hand_on)) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        while True:
            try:
                status = server.wait(round_s)
            except subprocess.TimeoutExpired:
                _look(api, say)
            else:
                return status if status >= 0 else 128 - status
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _look(api: PrefectApi, say: Callable[[str], None]) -> None:
    if not api.is_up():  # it comes up, or waits for its database: its own log says so
        return
    try:
        look_after_runs(api, say)
    except (ApiAway, ApiRefused) as error:
        say(f"runs cannot be looked after: {error}")
