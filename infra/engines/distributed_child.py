"""One of the processes of ``infra.engines.distributed``: ends when whoever started the group is gone."""

import importlib
import sys

from torch.distributed.elastic.multiprocessing.errors import record

from infra.engines.child import Parent


@record  # so that the launcher, which has the last word in the log, tells why the first of them failed
def main() -> None:
    """Call ``main`` of the module that is named first on the command line, with the rest of it."""
    # torch's launcher starts each process in a session of its own, where no signal to the group reaches it. They share
    # its standard input, though, a pipe that closes with the process at the other end.
    Parent()
    module, *arguments = sys.argv[1:]
    importlib.import_module(module).main(arguments)


if __name__ == "__main__":
    main()
