"""Deployments that train models."""

from typing import Annotated, Literal

from prefect import flow
from pydantic import Field

from flows.artifacts.made import tell_made
from flows.commands.train import cleaner as cleaner_command
from flows.commands.train import masked as masked_command
from flows.deployed.asked import here, place
from flows.deployed.parameters import Output, Says, ScoresFolder

Data = Annotated[
    str, Field(min_length=1), Says("A data set with triplets that are split, or an export. Or s3://BUCKET/PREFIX.")
]
StartModel = Annotated[
    str,
    Field(min_length=1),
    Says("Hub name, folder with safetensors, embedded model (smollm2-135m), or tiny: a Qwen3 with random weights."),
]
Revision = Annotated[str, Says("Of the model on the hub. Empty: the newest.")]
DeepSpeed = Annotated[
    str,
    Says(
        "Batches, steps, learning rate, precision, ZeRO: a ready configuration (cleaner-4b, cleaner-0.6b, one-gpu, cpu;"
        " masked-tiny, masked-code-pii, masked-code-quirks) or a file of DeepSpeed's on the worker. Empty: what fits."
    ),
]
Steps = Annotated[int | None, Field(ge=1, le=10_000_000), Says("Steps. None: as the configuration says.")]
Length = Annotated[int, Field(ge=16, le=1_000_000), Says("Most tokens of an example.")]
TooLong = Annotated[Literal["leave_out", "fail"], Says("What becomes of longer ones; none is ever cut.")]
Lora = Annotated[int | None, Field(ge=1, le=1024), Says("Train adapters of this rank. None: the whole model.")]
Checkpointing = Annotated[bool, Says("Gradient checkpointing: less memory for a third more time.")]
Order = Annotated[int, Field(ge=0, lt=2**31), Says("Another seed, another order.")]
EveryEvaluation = Annotated[int, Field(ge=1, le=1_000_000), Says("Steps from one evaluation to the next.")]
EverySave = Annotated[int, Field(ge=1, le=1_000_000), Says("Steps from one checkpoint to the next.")]
Masks = Annotated[str, Field(min_length=1), Says("Folder of the masks: made at the first run, read by later ones.")]
Policies = Annotated[list[str], Says("Policies that the deployment surprise-calibrate wrote: files on the worker.")]
Masking = Annotated[
    str,
    Says(
        "unmasked, oracle, the name of a policy, random:POLICY, goldfish:2, goldfish:3, stm, opf. Empty: the first"
        " policy, or oracle."
    ),
]
Action = Annotated[
    Literal["loss", "attention", "both", "clip", "scale", "filter"], Says("What becomes of selected tokens.")
]
MaskedModel = Annotated[
    str,
    Field(min_length=1),
    Says("tiny or gpt2-small, from scratch; or a hub name, folder or embedded model to be fine-tuned."),
]
Vocabulary = Annotated[
    str, Says("Of a model from scratch: a tokenizer's folder, or the size of one to train. Empty: 4096.")
]
Filter = Annotated[str, Says("Privacy filter (token classifier) for the masking opf. Empty: none.")]
TrainingEngine = Annotated[
    Literal["torch", "deepspeed"], Says("torch: one process; deepspeed: as many as the configuration says.")
]
Passes = Annotated[float | None, Field(gt=0, le=10_000), Says("Passes over all rows, instead of steps.")]
RowLength = Annotated[int, Field(ge=8, le=1_000_000), Says("Tokens of a row; longer documents are cut into pieces.")]
Pack = Annotated[bool, Says("Put several pieces into a row.")]


@flow(name="train-cleaner")
def train_cleaner(
    data: Data,
    output: Output,
    model: StartModel = "Qwen/Qwen3-0.6B",
    revision: Revision = "",
    deepspeed: DeepSpeed = "",
    steps: Steps = None,
    length: Length = 4096,
    too_long: TooLong = "leave_out",
    lora: Lora = None,
    gradient_checkpointing: Checkpointing = True,
    seed: Order = 0,
    evaluate_every: EveryEvaluation = 50,
    save_every: EverySave = 50,
) -> None:
    """Fine-tune a model to clean texts, as `privasis train cleaner` does; it goes on from the newest checkpoint."""
    folder = here(output).resolve()
    cleaner_command.run(
        {
            "data": place(data),
            "output": folder,
            "model": model,
            "revision": revision or None,
            "length": length,
            "too_long": too_long,
            "lora": _lora(lora),
            "gradient_checkpointing": gradient_checkpointing,
            "seed": seed,
            "evaluate_every": evaluate_every,
            "save_every": save_every,
        },
        deepspeed or None,
        steps,
    )
    tell_made(f"{folder.name}: cleaner", {"trained from": model}, {"model": folder / "model"})


@flow(name="train-masked")
def train_masked(
    data: ScoresFolder,
    output: Output,
    masks: Masks,
    policies: Policies = [],  # noqa: B006 - Prefect reads it as the form's default, nobody writes to it
    masking: Masking = "",
    action: Action = "loss",
    model: MaskedModel = "tiny",
    tokenizer: Vocabulary = "",
    opf: Filter = "",
    deepspeed: DeepSpeed = "",
    engine: TrainingEngine = "torch",
    steps: Steps = None,
    passes: Passes = None,
    length: RowLength = 256,
    pack: Pack = True,
    lora: Lora = None,
    gradient_checkpointing: Checkpointing = False,
    seed: Order = 0,
    save_every: EverySave = 100,
) -> None:
    """Train a model on texts but not on what a masking selects, as `privasis train masked` does."""
    folder = here(output).resolve()
    masked_command.run(
        masked_command.MasksAsked(
            place(data), [here(policy) for policy in policies], model, tokenizer or None, opf or None
        ),
        {
            "masking": masking or None,
            "masks": here(masks).resolve(),
            "action": action,
            "output": folder,
            "engine": engine,
            "length": length,
            "pack": pack,
            "lora": _lora(lora),
            "gradient_checkpointing": gradient_checkpointing,
            "seed": seed,
            "save_every": save_every,
        },
        deepspeed or None,
        steps,
        passes,
    )
    tell_made(f"{folder.name}: masked", {"trained from": model}, {"model": folder / "model"})


def _lora(rank: int | None) -> dict[str, int] | None:
    return {"rank": rank, "alpha": 2 * rank} if rank else None
