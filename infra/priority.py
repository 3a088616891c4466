"""Who waits when the cores are few: what serves and watches gives way to the model that computes."""

import os

_MODEST = 10


def give_way() -> None:
    """Lower this process's priority, and that of the children it starts from now on; twice does no more.

    llama.cpp's threads wait for each other by spinning: one that is preempted stops all of them, and two threads on two
    busy cores are slower than one.
    """
    if os.name == "posix":
        os.setpriority(os.PRIO_PROCESS, 0, max(_MODEST, os.getpriority(os.PRIO_PROCESS, 0)))
