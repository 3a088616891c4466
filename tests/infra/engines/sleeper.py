"""A child for the tests of ``infra.engines.process``: does what its first argument says."""

import signal
import sys
import time

from infra.engines.child import Parent


def main() -> None:
    parent = Parent()
    mode = sys.argv[1]
    print("stdout goes to the log")  # noqa: T201
    sys.stderr.write("stderr goes to the log\n")
    sys.stdout.flush()
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode == "fail":
        sys.exit(3)
    if mode != "silent":
        parent.ready(port=4242)
    if mode == "fail_later":
        sys.exit(4)
    time.sleep(60)


if __name__ == "__main__":
    main()
