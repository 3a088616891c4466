"""``python -m infra.stack HOME``: the supervisor in the background; what it starts is in ``HOME/wanted.json``."""

import argparse
from pathlib import Path

from infra.stack.config import StackConfig
from infra.stack.control import FAILED
from infra.stack.folder import StackBusy
from infra.stack.logs import say
from infra.stack.supervisor import StackFailed, Supervisor


def main() -> None:
    """Supervise until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m infra.stack", description=__doc__)
    parser.add_argument("home", type=Path, help="folder of the stack")
    home: Path = parser.parse_args().home
    config = StackConfig.model_validate_json((home / "wanted.json").read_bytes())
    try:
        Supervisor(config, say).run()
    except (StackBusy, StackFailed) as error:
        say(f"{FAILED}{error}")
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
