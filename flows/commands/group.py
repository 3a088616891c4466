"""The commands of ``privasis`` as a group: in which order they are shown, and with which exit code they end."""

from collections.abc import Iterator
from typing import Any

from typer import Exit, echo
from typer.core import TyperGroup

from flows.commands.places import on_this_machine
from flows.commands.signals import FIRST_OF_NOTHING, interruptible

OURS = ("flows", "tasks", "infra")


IN_ORDER = (  # of the work, in `--help`
    *("synthesize", "preview", "estimate", "report", "browse", "compare", "review", "check-identities"),
    *("sanitize", "split", "evaluate", "study", "export", "train"),
    *("clean", "serve", "surprise", "corpus"),
    *("init", "doctor", "up", "ps", "down", "status", "batches", "cost", "backfill", "quarantine", "shards"),
)

GOING_ON = ("synthesize", "sanitize", "split", "evaluate", "study", "surprise", "backfill", "quarantine")
INTERRUPTED = (
    "interrupted. What is finished is kept, what was answered is not asked again: the same command goes on from there."
)


class Commands(TyperGroup):
    """Ends every command with an exit code that means something."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer keeps the type to itself
        """Return the names in the order of the work."""
        return sorted(super().list_commands(ctx), key=IN_ORDER.index)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - typer keeps the types to itself
        """Return a command whose paths are of this machine, or parsed as places."""
        command = super().get_command(ctx, cmd_name)
        for each in _with_all_below(command) if command else ():
            for param in each.params:
                param.callback = param.callback or on_this_machine
        return command

    def invoke(self, ctx: Any) -> object:  # noqa: ANN401 - typer keeps the type to itself
        """Run the command; tell an expected error in a message instead of a traceback."""
        with interruptible() as interrupted_code:
            try:
                return super().invoke(ctx)
            except (KeyboardInterrupt, SystemExit) as end:  # while Ray starts, its own handler exits with a bare number
                code = interrupted_code() or (130 if isinstance(end, KeyboardInterrupt) else 1)
                if code > FIRST_OF_NOTHING and ctx.invoked_subcommand in GOING_ON:
                    echo(f"privasis: {INTERRUPTED}", err=True)
                raise Exit(code) from end
            except BrokenPipeError:  # whoever read our output has gone, `head` for instance
                raise
            except ModuleNotFoundError as error:
                package = str(error.name).partition(".")[0]
                if package in OURS:
                    raise
                echo(f"privasis: package {package} is not installed: run `make setup`", err=True)
                raise Exit(3) from error
            except _expected() as error:
                from flows.commands.errors import code_of, message_of

                echo(f"privasis: {message_of(error)}", err=True)
                raise Exit(interrupted_code() or code_of(error) or 1) from error


def _with_all_below(command: Any) -> Iterator[Any]:  # noqa: ANN401 - typer keeps the type to itself
    yield command
    for each in getattr(command, "commands", {}).values():
        yield from _with_all_below(each)


def _expected() -> tuple[type[Exception], ...]:
    """Python asks for these only when something was raised: `privasis --help` need not wait for their imports."""
    from flows.commands.errors import EXPECTED

    return EXPECTED
