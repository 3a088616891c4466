"""The command ``privasis split``: what it is called with."""

from typing import Annotated

from typer import Option

from flows.commands.evaluate.app import MAKING
from flows.commands.flags import RunFlags, takes_run_flags


@takes_run_flags(without=(*MAKING, "in_flight", "workers"))
def split(
    flags: RunFlags,
    test: Annotated[
        float | None, Option(min=0.001, max=0.999, help="Share of people set aside for the two tests; else 0.1.")
    ] = None,
    validation: Annotated[
        float | None, Option(min=0, max=0.999, help="Share of people for validation; else 0.05.")
    ] = None,
    split_seed: Annotated[
        int | None, Option(min=0, help="Another seed draws other people for the tests; else 0.")
    ] = None,
    evaluation: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Whose judgement tells the vanilla from the hard test: the folder's name under evaluations/. Needed"
            " where several have judged the pipeline's own texts.",
        ),
    ] = None,
) -> None:
    """Split triplets into training, validation and test, by person: more data never moves a record.

    \b
    privasis split -c run.toml
    privasis evaluate cleaner -c run.toml      judges what is set aside for tests
    privasis split -c run.toml --test 0.2      the shares can stand in the run file, too: [splits]
    privasis split -c run.toml                 now knows the vanilla from the hard test
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands import split as command

    command.run(flags, test, validation, split_seed, evaluation)
