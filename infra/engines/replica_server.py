"""``python -m infra.engines.replica_server``: keeps one server process alive, as long as the parent lives.

Run by ``infra.engines.vllm``, which hands it what to run as JSON on the command line (no secrets: those are in the
environment, which the server inherits).
"""

import json
import os
import signal
import sys
from typing import NoReturn

from infra.engines.child import Parent
from infra.engines.replica import Patience, Replica, ReplicaFailed


def main() -> None:
    """Start the server, tell the parent when it answers, keep it alive until the parent ends or a signal comes."""
    asked = json.loads(sys.argv[1])
    replica = Replica(
        asked["command"], os.environ | asked["environment"], asked["url"], Patience(**asked["patience"]), say
    )
    parent = Parent(before_end=replica.kill)
    signal.signal(signal.SIGTERM, _leave)
    try:
        replica.run(ready=lambda: parent.ready(url=asked["url"]))
    except ReplicaFailed as error:
        sys.exit(str(error))
    finally:
        replica.end()


def say(what: str) -> None:
    """Write a line into the log."""
    print(what, file=sys.stderr, flush=True)  # noqa: T201


def _leave(signal_number: int, frame: object) -> NoReturn:
    sys.exit(128 + signal_number)


if __name__ == "__main__":
    main()
