"""Which DeepSpeed configuration a command line means, and whether this machine can run it."""

from pathlib import Path

from flows.config import ConfigError
from tasks.training.ds_config import DeepSpeedConfig, DeepSpeedUnfit, read_config

READY = Path(__file__).parents[3] / "deploy/deepspeed"


def deepspeed_config(asked: str | None, steps: int | None) -> DeepSpeedConfig:
    """Return the configuration.

    Args:
        asked: name of a ready one, or a file; None chooses by what the machine has.
        steps: instead of those in the file.

    Raises:
        ConfigError: there is no such file, it cannot be trained by, or it wants more GPUs than there are.
    """
    import torch  # here: it takes seconds

    gpus = torch.cuda.device_count()
    name = asked or ("one-gpu" if gpus else "cpu")
    ready = {file.stem: file for file in sorted(READY.glob("*.json"))}
    try:
        config = read_config(ready.get(name, Path(name)))
    except DeepSpeedUnfit as error:
        raise ConfigError(f"--deepspeed {name}: {error}; ready ones: {', '.join(ready)}") from error
    if gpus and config.processes > gpus:
        raise ConfigError(
            f"--deepspeed {name}: its train_batch_size is for {config.processes} GPUs, here are {gpus}: take one-gpu,"
            " or raise gradient_accumulation_steps in a file of your own"
        )
    return config if steps is None else config.with_steps(steps)
