"""``privasis train cleaner``: run the flow, say what was trained."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.errors import Code, RunFailed
from flows.commands.quiet import quiet_prefect
from flows.commands.train.setting import deepspeed_config
from flows.commands.wording import counted
from flows.config import ConfigError
from infra.engines.process import EngineFailed
from infra.prefect_local import prefect_api
from infra.settings import settings

if TYPE_CHECKING:
    from flows.train_cleaner import TrainingReport
    from tasks.training.cleaner.config import CleanerRun


def run(values: Mapping[str, Any], deepspeed: str | None, steps: int | None) -> None:
    """Train a cleaner.

    Args:
        values: settings of ``CleanerRun``, without ``deepspeed``.
        deepspeed: name of a ready configuration, or a file.
        steps: instead of the configuration's.

    Raises:
        ConfigError: a setting is wrong, or the data or the model cannot be trained with.
        ModelMissing: the model is nowhere.
        RunFailed: training stopped.
        EngineFailed: a process that trained ended by itself.
    """
    quiet_prefect()
    _quiet_deepspeed()
    from tasks.training.cleaner.config import CleanerRun

    asked = CleanerRun(**values, deepspeed=deepspeed_config(deepspeed, steps))
    asked.output.mkdir(parents=True, exist_ok=True)  # a place that cannot be written to, found now
    print_trained(asked, _run(asked))


def _run(asked: "CleanerRun") -> "TrainingReport":
    from flows.train_cleaner import train_cleaner
    from tasks.training.answers import TemplateUnfit
    from tasks.training.cleaner.prepare import DataUnfit
    from tasks.training.steps import OutputTaken
    from tasks.training.stopped import TrainingStopped

    config = asked.deepspeed
    _say(f"{counted(config.steps, 'step')} of {config.train_batch_size} examples, processes: {config.processes}")
    with prefect_api(settings().cache / "prefect") as ready:
        _say(f"watch it at {ready().removesuffix('/api')}")
        try:
            return train_cleaner(asked)
        except (DataUnfit, TemplateUnfit, OutputTaken) as error:
            raise ConfigError(str(error)) from error
        except EngineFailed as error:
            raise RunFailed(f"{error}\n{_goes_on(asked.output)}", Code.OUTSIDE) from error
        except TrainingStopped as error:
            raise RunFailed(str(error), Code.USAGE) from error
        except (KeyboardInterrupt, SystemExit):
            _say(f"Stopped. {_goes_on(asked.output)}")
            raise


def _goes_on(output: Path) -> str:
    from tasks.training.steps import steps_behind

    steps = steps_behind(output)
    return f"The same command goes on after step {steps:,}" if steps else "The same command begins again"


def _quiet_deepspeed() -> None:
    """Say that there is no GPU where there is none: DeepSpeed wonders aloud, wherever it is imported."""
    import torch  # here: it takes seconds

    if not torch.cuda.is_available():
        os.environ.setdefault("DS_ACCELERATOR", "cpu")


def print_trained(asked: "CleanerRun", report: "TrainingReport") -> None:
    """Print how training went, and where the model is."""
    data, metrics = report.record["data"], report.record["metrics"]
    left_out = {reason: len(ids) for reason, ids in data["train"]["left_out"].items()}
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    rows = [
        ("examples", f"{data['train']['examples']:,}", _listed(left_out)),
        ("steps", f"{metrics['steps']:,}", f"{report.steps_before:,} were done" if report.steps_before else ""),
        ("tokens", f"{metrics['tokens']:,}", f"{metrics['seconds']:,.0f} seconds"),
        ("loss", f"{metrics['loss']:.4f}", "nats a token of the answers, of the last step"),
    ]
    if (evaluated := metrics["evaluation_loss"]) is not None:
        rows.append(("evaluation loss", f"{evaluated:.4f}", f"on {data['validation']['examples']:,} others"))
    for name, figure, detail in rows:
        table.add_row(Text(name), Text(figure), Text(detail))
    console = Console()
    console.print(table)
    _line(console, f"\n{asked.output / 'model'}: safetensors, tokenizer, and training.json on how it was made")


def _listed(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} left out: {reason}" for reason, count in left_out.items())


def _line(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)  # a path that is cut in two cannot be copied


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
