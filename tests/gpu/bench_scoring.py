"""Scoring on one GPU: tokens/s, share of the card's matrix peak, equality to float32.

    python -m tests.gpu.bench_scoring [--shapes 0.6B 4B] [--seconds 40] [--json FILE]

Needs torch and transformers alone, and under ten minutes. Models have the shapes of Qwen3-0.6B and Qwen3-4B and random
weights; texts are random ids, their lengths spread evenly in the logarithm from 16 to 4,096 tokens. The naive loop
reads one text at a time and makes the whole logits. ``--tiny`` runs the same steps on small shapes anywhere, so that
they are tested where there is no GPU; otherwise it says that it skips and ends.

Stated bounds: in float32 every NLL within 1e-3 nats of the naive loop's; in bfloat16 the mean distance from float32
below 0.05 nats and not above that of the naive loop by more than a tenth.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import PreTrainedModel, Qwen3Config, Qwen3ForCausalLM

from tasks.surprise.scoring.buckets import buckets
from tasks.surprise.scoring.forward import Forward
from tasks.surprise.scoring.reading import Reading

F32 = npt.NDArray[np.float32]

SHAPES: dict[str, dict[str, Any]] = {
    "0.6B": {
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151_936,
    },
    "4B": {
        "hidden_size": 2560,
        "intermediate_size": 9728,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151_936,
    },
    "tiny": {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "vocab_size": 5000,
    },
}
FLOAT32_BOUND_NATS = 1e-3
HALF_MEAN_BOUND_NATS = 0.05
CHECKED = 12  # texts of the equality check


@dataclass(frozen=True)
class Result:
    """Figures of one shape.

    Attributes:
        packed: texts lay end to end (else padded rows).
        float32_worst_nats: largest distance between our float32 NLLs and the naive loop's.
        half_mean_nats: mean distance of our half-precision NLLs from float32; ``naive_half_mean_nats`` of the loop's.
        peak_share: of the measured matrix peak that our scoring's arithmetic comes to.
    """

    shape: str
    packed: bool
    tokens_per_s: float
    naive_tokens_per_s: float
    peak_tflops: float
    peak_share: float
    memory_gib: float
    naive_memory_gib: float
    float32_worst_nats: float
    half_mean_nats: float
    naive_half_mean_nats: float

    @property
    def within_bounds(self) -> bool:
        return (
            self.float32_worst_nats <= FLOAT32_BOUND_NATS
            and self.half_mean_nats <= HALF_MEAN_BOUND_NATS
            and self.half_mean_nats <= 1.1 * self.naive_half_mean_nats
        )


def make(shape: str, device: torch.device, dtype: torch.dtype) -> PreTrainedModel:
    torch.manual_seed(0)
    config = Qwen3Config(**SHAPES[shape], tie_word_embeddings=True, max_position_embeddings=4096)
    with device:
        model = Qwen3ForCausalLM(config)
    with torch.no_grad():
        model.model.norm.weight.mul_(4.0)  # random weights predict nothing; this spreads their logits over some nats
    return model.eval().to(dtype)


def texts(count: int, longest: int, vocabulary: int) -> list[Reading]:
    rng = np.random.default_rng(1)
    lengths = np.exp(rng.uniform(np.log(16), np.log(longest), size=count)).astype(int)
    ids = [rng.integers(0, vocabulary, size=length + 1, dtype=np.int32) for length in lengths]
    return [Reading(text[:-1], text[1:], np.empty(text.size - 1, dtype=np.float32)) for text in ids]


@torch.inference_mode()
def naive(model: PreTrainedModel, reading: Reading) -> F32:
    ids = torch.from_numpy(reading.inputs.astype(np.int64))[None].to(model.device)
    targets = torch.from_numpy(reading.targets.astype(np.int64))[:, None].to(model.device)
    logprobs = model(input_ids=ids, use_cache=False).logits[0].float().log_softmax(-1)
    nll: F32 = -logprobs.gather(1, targets)[:, 0].cpu().numpy()
    return nll


def ours(forward: Forward, readings: Sequence[Reading], budget: int) -> list[F32]:
    found: dict[int, F32] = {}
    for places in buckets([reading.inputs.size for reading in readings], budget, padded=not forward.packed):
        found |= zip(places, forward.nll([readings[place] for place in places]), strict=True)
    return [found[place] for place in range(len(readings))]


def rate(work: Callable[[Reading], object], readings: Sequence[Reading], seconds: float) -> float:
    """Tokens/s over as many readings as fit, drawn from all lengths alike."""
    order = np.random.default_rng(2).permutation(len(readings)).tolist()
    work(readings[order[0]])  # kernels are chosen and memory is taken
    start, tokens = time.perf_counter(), 0
    for place in order:
        work(readings[place])
        tokens += readings[place].targets.size
        if time.perf_counter() - start > seconds:
            break
    return tokens / (time.perf_counter() - start)


def our_rate(forward: Forward, readings: Sequence[Reading], budget: int, seconds: float) -> float:
    """Tokens/s over all readings, again and again until the time is up."""
    ours(forward, readings[: len(readings) // 8 or 1], budget)
    start, tokens = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        ours(forward, readings, budget)
        tokens += sum(reading.targets.size for reading in readings)
    return tokens / (time.perf_counter() - start)


def matrix_peak(device: torch.device, dtype: torch.dtype, size: int) -> float:
    """Best of many products of square matrices, in operations a second."""
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    best = float("inf")
    for _ in range(20):
        settle(device)
        start = time.perf_counter()
        a @ b
        settle(device)
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best


def operations(model: PreTrainedModel, readings: Sequence[Reading]) -> float:
    """Operations a token: two a weight of every matrix, the output layer included, and attention to half a text."""
    config = model.config
    weights = sum(weight.numel() for name, weight in model.named_parameters() if weight.ndim == 2)  # tied ones once
    lengths = np.array([reading.inputs.size for reading in readings], dtype=np.float64)
    attended = float((lengths**2).sum() / lengths.sum() / 2)
    return 2.0 * weights + 4.0 * attended * config.num_hidden_layers * config.num_attention_heads * config.head_dim


def settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def memory_gib(device: torch.device) -> float:
    """Peak since the last call."""
    if device.type != "cuda":
        return float("nan")
    peak = torch.cuda.max_memory_allocated(device) / 2**30
    torch.cuda.reset_peak_memory_stats(device)
    return peak


def distances(
    shape: str, device: torch.device, half: torch.dtype, readings: Sequence[Reading], budget: int
) -> list[float]:
    """Worst float32 distance, mean half-precision distance, and that of the naive loop."""
    exact_model = make(shape, device, torch.float32)
    exact = np.concatenate([naive(exact_model, reading) for reading in readings])
    single = np.concatenate(ours(Forward(exact_model), readings, budget))
    del exact_model
    half_model = make(shape, device, half)
    loop = np.concatenate([naive(half_model, reading) for reading in readings])
    packed = np.concatenate(ours(Forward(half_model), readings, budget))
    return [float(np.abs(single - exact).max()), *(float(np.abs(each - exact).mean()) for each in (packed, loop))]


def measure(shape: str, device: torch.device, seconds: float) -> Result:
    tiny = shape == "tiny"
    readings = texts(64 if tiny else 400, 256 if tiny else 4096, SHAPES[shape]["vocab_size"])
    budget = 512 if tiny else 16384
    worst, mean, naive_mean = distances(shape, device, torch.bfloat16, readings[:CHECKED], budget)
    model = make(shape, device, torch.bfloat16)
    a_token = operations(model, readings)
    peak = matrix_peak(device, torch.bfloat16, 256 if tiny else 8192)
    memory_gib(device)
    naive_rate = rate(lambda reading: naive(model, reading), readings, seconds)
    naive_memory = memory_gib(device)
    forward = Forward(model)
    memory_gib(device)
    found = our_rate(forward, readings, budget, seconds)
    return Result(
        shape=shape,
        packed=forward.packed,
        tokens_per_s=found,
        naive_tokens_per_s=naive_rate,
        peak_tflops=peak / 1e12,
        peak_share=found * a_token / peak,
        memory_gib=memory_gib(device),
        naive_memory_gib=naive_memory,
        float32_worst_nats=worst,
        half_mean_nats=mean,
        naive_half_mean_nats=naive_mean,
    )


def table(results: Sequence[Result]) -> str:
    lines = [
        "| shape | tokens/s | naive | times | matrix peak | share | memory | naive | float32 | half (naive) | bounds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for each in results:
        lines.append(
            f"| {each.shape}{'' if each.packed else ' (rows)'} | {each.tokens_per_s:,.0f} |"
            f" {each.naive_tokens_per_s:,.0f} | {each.tokens_per_s / each.naive_tokens_per_s:.1f} |"
            f" {each.peak_tflops:,.2f} TFLOP/s | {each.peak_share:.1%} | {each.memory_gib:.2f} GiB |"
            f" {each.naive_memory_gib:.2f} GiB | {each.float32_worst_nats:.1e} |"
            f" {each.half_mean_nats:.4f} ({each.naive_half_mean_nats:.4f}) |"
            f" {'within' if each.within_bounds else 'BROKEN'} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", choices=("0.6B", "4B"), default=["0.6B", "4B"])
    parser.add_argument("--seconds", type=float, default=40.0, help="of each rate")
    parser.add_argument("--tiny", action="store_true", help="small shapes, on a CPU if need be")
    parser.add_argument("--json", type=Path, help="where the figures go; they are printed too")
    options = parser.parse_args(arguments)
    if not options.tiny and not torch.cuda.is_available():
        print("skipped: no CUDA device here; --tiny runs the same steps on small shapes")
        return 0
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = False  # float32 is the yardstick here
    shapes = ["tiny"] if options.tiny else options.shapes
    results = []
    for shape in shapes:
        results.append(measure(shape, device, options.seconds))
        if device.type == "cuda":
            torch.cuda.empty_cache()
    print(table(results))
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    report = json.dumps({"device": card, "torch": torch.__version__, "results": [asdict(each) for each in results]})
    print(report)
    if options.json is not None:
        options.json.write_text(report, encoding="utf-8")
    return 0 if all(each.within_bounds for each in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
