"""``privasis train masked``: what it is called with. What it does is imported when needed."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from flows.commands.places import Place, existing_folder

DATA = "What is trained, on what"
HOW = "How"


def masked(
    data: Annotated[
        Place,
        Option(
            parser=existing_folder,
            metavar="SCORES_DIR",
            help="Texts or chats that `privasis surprise score` has scored, with groups, and with labels where there"
            " are any. Or s3://BUCKET/PREFIX.",
            rich_help_panel=DATA,
        ),
    ],
    output: Annotated[Path, Option("--output", "-o", metavar="DIR", help="Folder of the run; DIR/model is the model.")],
    masks: Annotated[
        Path,
        Option(
            metavar="DIR",
            help="Folder of the masks: made at the first call, by all methods; read by all later ones.",
            rich_help_panel=DATA,
        ),
    ],
    policy: Annotated[
        list[Path],
        Option(
            metavar="FILE",
            help="Frozen policy of `privasis surprise calibrate`; repeat it. Its masking has the file's name without"
            " the ending, the random one beside it random:NAME.",
            rich_help_panel=DATA,
        ),
    ] = [],  # noqa: B006 - typer copies it
    masking: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="unmasked, oracle, the name of a policy, random:POLICY, goldfish:2, goldfish:3, goldfish-reference:2,"
            " goldfish-reference:3, stm, opf. Without: the first policy, or oracle.",
            rich_help_panel=HOW,
        ),
    ] = None,
    action: Annotated[
        Literal["loss", "attention", "both", "clip", "scale", "filter"],
        Option(help="What becomes of selected tokens.", rich_help_panel=HOW),
    ] = "loss",
    model: Annotated[
        str,
        Option(
            metavar="MODEL",
            help="tiny (Qwen3, about 2 million weights) or gpt2-small, from scratch; hub name, folder with safetensors"
            " or embedded model, to be fine-tuned.",
            rich_help_panel=DATA,
        ),
    ] = "tiny",
    tokenizer: Annotated[
        str | None,
        Option(
            metavar="FOLDER|SIZE",
            help="Of a model from scratch: a tokenizer's folder, or the size of one to train on the texts around"
            " private spans. Without: 4096; a model that is fine-tuned has its own.",
            rich_help_panel=DATA,
        ),
    ] = None,
    opf: Annotated[
        str | None,
        Option(metavar="MODEL", help="Privacy filter (token classifier) for the masking opf.", rich_help_panel=DATA),
    ] = None,
    deepspeed: Annotated[
        str | None,
        Option(
            metavar="NAME|FILE",
            help="Batches, steps, learning rate, precision, as DeepSpeed's JSON: a file, or a ready one: masked-tiny"
            " (the default), masked-code-pii, masked-code-quirks (the paper's). Plain torch reads it, too.",
            rich_help_panel=HOW,
        ),
    ] = None,
    engine: Annotated[
        Literal["torch", "deepspeed"],
        Option(help="torch: one process; deepspeed: as many as the configuration says.", rich_help_panel=HOW),
    ] = "torch",
    steps: Annotated[
        int | None, Option(min=1, help="Steps, instead of the file's; warm-up keeps its share.", rich_help_panel=HOW)
    ] = None,
    passes: Annotated[
        float | None,
        Option(
            min=0.0,
            help="Passes over all rows, instead of steps; with `filter` as many steps as without.",
            rich_help_panel=HOW,
        ),
    ] = None,
    length: Annotated[
        int, Option(min=8, help="Tokens of a row; longer documents are cut into pieces.", rich_help_panel=DATA)
    ] = 256,
    pack: Annotated[bool, Option("--pack/--no-pack", help="Several pieces in a row.", rich_help_panel=DATA)] = True,
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
    ] = False,
    seed: Annotated[int, Option(min=0, help="Of first weights and order.", rich_help_panel=HOW)] = 0,
    save_every: Annotated[int, Option(min=1, metavar="STEPS", rich_help_panel=HOW)] = 100,
) -> None:
    """Train a model on texts, but not on what a masking selects. The same command again goes on where it stood.

    \b
    privasis train masked --data data/train --policy SM95.json --masks data/masks -o models/sm95
    privasis train masked --data data/train --masks data/masks --masking random:SM95 -o models/random
    privasis train masked --data data/train --masks data/masks --masking SM95 --action clip --seed 2 -o models/clip-2
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.train import masked as command

    command.run(
        command.MasksAsked(data, policy, model, tokenizer, opf),
        {
            "masking": masking,
            "masks": masks.resolve(),
            "action": action,
            "output": output.resolve(),
            "engine": engine,
            "length": length,
            "pack": pack,
            "lora": {"rank": lora, "alpha": 2 * lora} if lora else None,
            "gradient_checkpointing": gradient_checkpointing,
            "seed": seed,
            "save_every": save_every,
        },
        deepspeed,
        steps,
        passes,
    )
