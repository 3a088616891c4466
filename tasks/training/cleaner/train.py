"""Training, as each of the processes runs it: one loop, to be read from top to bottom."""

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import deepspeed  # type: ignore[import-untyped]
import numpy as np
import peft
import torch
import torch.distributed as dist
from deepspeed.accelerator import get_accelerator  # type: ignore[import-untyped]
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from tasks.training import checkpoints, job, losses, stopped
from tasks.training.engine import Engine
from tasks.training.evaluation import evaluation_loss
from tasks.training.examples import ExampleFile
from tasks.training.job import TrainingJob, read_job
from tasks.training.loss import weighted_nll
from tasks.training.order import Order
from tasks.training.packing import Batch, pack_attention
from tasks.training.stopped import TrainingStopped, check_finite
from tasks.training.weights import gathered, write_model


def main(arguments: Sequence[str]) -> None:
    """Train the job that is described in a folder, from its newest checkpoint on, and write the model into it.

    Args:
        arguments: the folder.

    Raises:
        TrainingStopped: a loss is no number; the folder says so, too.
    """
    folder = Path(arguments[0])
    asked = read_job(folder)
    if asked is None:
        raise FileNotFoundError(f"{folder / job.FILE}: no job to train")
    try:
        train(folder, asked)
    except TrainingStopped as error:
        stopped.tell(folder, error)
        raise


def train(folder: Path, asked: TrainingJob) -> None:
    """See ``main``."""
    if get_accelerator().device_name() == "cpu":
        _spare_the_compiler()
    deepspeed.init_distributed()
    _seed(asked.seed, 0)
    model = _model(asked)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    engine: Engine
    engine, *_ = deepspeed.initialize(model=model, model_parameters=trained, config=asked.deepspeed.raw())
    begin = checkpoints.load(engine, folder / job.CHECKPOINTS)
    with losses.LossLog(folder / losses.FILE, begin) if dist.get_rank() == 0 else losses.NoLog() as log:
        _steps(engine, folder, asked, begin, log)
    state = gathered(model, partitioned=asked.deepspeed.zero_optimization.stage == 3)
    if dist.get_rank() == 0:
        tokenizer = AutoTokenizer.from_pretrained(asked.source, trust_remote_code=False)
        write_model(model, state, tokenizer, asked, folder / job.MODEL)
    dist.barrier()
    dist.destroy_process_group()


def _steps(engine: Engine, folder: Path, asked: TrainingJob, begin: int, log: losses.LossLog | losses.NoLog) -> None:
    """Do the steps from ``begin`` on, evaluate and save in between."""
    config, rank, world = asked.deepspeed, dist.get_rank(), dist.get_world_size()
    examples = ExampleFile(folder / job.TRAIN)
    validation = ExampleFile(folder / job.VALIDATION) if asked.validation_sha256 else None
    micro, accumulation = config.train_micro_batch_size_per_gpu, config.gradient_accumulation_steps
    order = Order(examples.lengths, micro, accumulation, world, asked.seed)
    for step in range(begin, config.steps):
        began, number = time.monotonic(), step + 1
        _seed(asked.seed, step)
        batch, rate = order.batch(step), float(engine.get_lr()[0])
        weight = float(examples.weights[batch].sum())
        total = torch.zeros((), device=engine.device)
        engine.train()
        for places in order.micro_batches(step, rank):
            read = [examples[place] for place in places]
            nll = weighted_nll(engine, Batch.of(read, engine.device))
            check_finite(nll.item(), "the loss", number, [example.id for example in read])
            # DeepSpeed divides by the micro-batches and averages over processes; what we want is the mean over all
            # tokens of the step, however unevenly they fall.
            engine.backward(nll * (accumulation * world / weight))
            engine.step()
            total += nll.detach()
        norm = float(engine.get_global_grad_norm())
        check_finite(norm, "the norm of the gradients", number, [examples[place].id for place in batch])
        dist.all_reduce(total)
        log.write(
            {
                "step": number,
                "loss": total.item() / weight,
                "learning_rate": rate,
                "gradient_norm": norm,
                "tokens": int(examples.lengths[batch].sum()),
                "seconds": round(time.monotonic() - began, 3),
            }
        )
        is_last = number == config.steps
        if validation is not None and (is_last or number % asked.evaluate_every == 0):
            log.write({"step": number, "evaluation_loss": evaluation_loss(engine, validation, micro)})
        if is_last or number % asked.save_every == 0:
            log.sync()
            checkpoints.save(engine, folder / job.CHECKPOINTS, number)


def _model(asked: TrainingJob) -> PreTrainedModel | Any:  # noqa: ANN401 - peft has no types
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
        asked.source,
        dtype=getattr(torch, asked.deepspeed.dtype),
        use_safetensors=True,
        trust_remote_code=False,
    )
    pack_attention(model)
    if asked.gradient_checkpointing:
        model.activation_checkpointing_enable({"use_reentrant": False})
    if asked.lora is None:
        return model
    lora = peft.LoraConfig(
        task_type="CAUSAL_LM",
        target_modules="all-linear",
        r=asked.lora.rank,
        lora_alpha=asked.lora.alpha,
        lora_dropout=asked.lora.dropout,
    )
    return peft.get_peft_model(model, lora)


def _seed(seed: int, step: int) -> None:
    """Draw the random numbers of a step (dropout) from these and the rank, so that no checkpoint has to hold them."""
    value = int(np.random.SeedSequence([seed, step, dist.get_rank()]).generate_state(1)[0])
    random.seed(value)
    np.random.seed(value)
    torch.manual_seed(value)


def _spare_the_compiler() -> None:
    """Leave all reductions to gloo: DeepSpeed's own, in shared memory, are compiled at the first start, in a minute."""
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
