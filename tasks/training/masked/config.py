"""What a person, or a study, says about one run of masked training."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tasks.training.ds_config import DeepSpeedConfig
from tasks.training.job import LoraConfig

Action = Literal["loss", "attention", "both", "clip", "scale", "filter"]


class FromScratch(BaseModel):
    """A causal language model with random weights, for the vocabulary of the masks' tokenizer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["scratch"] = "scratch"
    architecture: Literal["qwen3", "gpt2"] = "qwen3"
    layers: int = Field(default=4, ge=1)
    width: int = Field(default=192, ge=8, description="of the residual stream; the feed-forward is four times as wide")
    heads: int = Field(default=6, ge=1, description="of attention; width / heads is the size of each, an even number")


class Pretrained(BaseModel):
    """A model to fine-tune."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["pretrained"] = "pretrained"
    name: str = Field(min_length=1, description="hub name, folder with safetensors, or embedded model")
    revision: str | None = Field(default=None, description="on the hub; none means its default")


Start = Annotated[FromScratch | Pretrained, Field(discriminator="kind")]

TINY = FromScratch()
GPT2_SMALL = FromScratch(architecture="gpt2", layers=12, width=768, heads=12)  # SM App. C.1
SCRATCH = {"tiny": TINY, "gpt2-small": GPT2_SMALL}


class MaskedRun(BaseModel):
    """One training run: one masking, one action, one seed (SM section 3, Appendices C and E)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    masks: Path = Field(description="folder that `write_masks` wrote: shared by all maskings, actions and seeds")
    masking: str = Field(description="the name of one of its maskings")
    action: Action = Field(default="loss", description="what becomes of the tokens that it selects")
    output: Path = Field(description="folder of the run; another call with it goes on where this one stood")
    start: Start = TINY
    settings: DeepSpeedConfig = Field(description="batch, steps, rate, precision; both engines read them")
    engine: Literal["torch", "deepspeed"] = Field(
        default="torch", description="torch: in this process, on one device; deepspeed: in processes of its own"
    )
    length: int = Field(default=256, ge=8, description="most tokens of a row; longer documents are cut into pieces")
    pack: bool = Field(default=True, description="several pieces make a row; else each piece is one")
    lora: LoraConfig | None = Field(default=None, description="none trains all weights")
    gradient_checkpointing: bool = Field(default=False, description="compute activations twice, do not keep them")
    seed: int = Field(default=0, ge=0, description="of the initial weights, of adapters, and of the order")
    save_every: int = Field(default=100, ge=1, description="steps")
