"""``privasis down``: end the local stack."""

from typer import echo

from flows.commands.up import say
from infra.settings import settings
from infra.stack import control


def run() -> None:
    """End what `privasis up` has started, however its supervisor ended."""
    state = control.state_of(settings().home)
    if state is None:
        echo("Nothing is up.")
        return
    control.stop(state, say)
    echo("The stack is down.")
