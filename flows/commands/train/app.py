"""The commands under ``privasis train``: what they are called with. What they do is imported when needed."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Option, Typer

from flows.commands.places import Place, existing_folder
from flows.commands.train.masked_app import masked

train_app = Typer(no_args_is_help=True, help="Train models on what was made.")

DATA = "What is trained, on what"
HOW = "How"


@train_app.callback()
def train() -> None:
    """Train models on what was made."""


@train_app.command()
def cleaner(
    data: Annotated[
        Place,
        Option(
            parser=existing_folder,
            metavar="DIR",
            help="A data set with triplets that are split, or an export; or s3://BUCKET/PREFIX.",
            rich_help_panel=DATA,
        ),
    ],
    output: Annotated[Path, Option("--output", "-o", metavar="DIR", help="Folder of the run; DIR/model is the model.")],
    model: Annotated[
        str,
        Option(
            metavar="MODEL",
            help="Hub name, folder with safetensors, embedded model (smollm2-135m), or tiny: a Qwen3 with random"
            " weights, to try the way.",
            rich_help_panel=DATA,
        ),
    ] = "Qwen/Qwen3-0.6B",
    revision: Annotated[str | None, Option(help="Of the model on the hub.", rich_help_panel=DATA)] = None,
    deepspeed: Annotated[
        str | None,
        Option(
            metavar="NAME|FILE",
            help="Batches, steps, learning rate, precision, ZeRO, as DeepSpeed's JSON: a file, or a ready one:"
            " cleaner-4b, cleaner-0.6b (the paper's), one-gpu, cpu. Without: one-gpu, or cpu where there is no GPU.",
            rich_help_panel=HOW,
        ),
    ] = None,
    steps: Annotated[
        int | None, Option(min=1, help="Steps, instead of the file's; warm-up keeps its share.", rich_help_panel=HOW)
    ] = None,
    length: Annotated[int, Option(min=16, help="Most tokens of an example.", rich_help_panel=DATA)] = 4096,
    too_long: Annotated[
        Literal["leave_out", "fail"],
        Option("--too-long", help="What becomes of longer ones; none is ever cut.", rich_help_panel=DATA),
    ] = "leave_out",
    lora: Annotated[
        int | None, Option(min=1, metavar="RANK", help="Train adapters of this rank instead.", rich_help_panel=HOW)
    ] = None,
    gradient_checkpointing: Annotated[
        bool,
        Option(
            "--gradient-checkpointing/--no-gradient-checkpointing",
            help="Less memory for a third more time.",
            rich_help_panel=HOW,
        ),
    ] = True,
    seed: Annotated[int, Option(min=0, help="Another seed, another order.", rich_help_panel=HOW)] = 0,
    evaluate_every: Annotated[int, Option(min=1, metavar="STEPS", rich_help_panel=HOW)] = 50,
    save_every: Annotated[int, Option(min=1, metavar="STEPS", rich_help_panel=HOW)] = 50,
) -> None:
    """Fine-tune a model to clean texts as asked. The same command again goes on where it stood.

    \b
    privasis train cleaner --data data/records --model Qwen/Qwen3-4B --deepspeed cleaner-4b -o models/cleaner-4b
    privasis train cleaner --data data/records/export --model Qwen/Qwen3-0.6B --lora 16 -o models/lora
    privasis train cleaner --data data/records --model tiny --steps 20 -o models/tiny      on any machine, in minutes
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.train import cleaner as command

    command.run(
        {
            "data": data,
            "output": output.resolve(),
            "model": model,
            "revision": revision,
            "length": length,
            "too_long": too_long,
            "lora": {"rank": lora, "alpha": 2 * lora} if lora else None,
            "gradient_checkpointing": gradient_checkpointing,
            "seed": seed,
            "evaluate_every": evaluate_every,
            "save_every": save_every,
        },
        deepspeed,
        steps,
    )


train_app.command()(masked)
