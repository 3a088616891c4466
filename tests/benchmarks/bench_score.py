"""Scoring against the naive transformers loop on CPUs: ``python -m tests.benchmarks.bench_score``.

    [--model smollm2-135m] [--tokens 12000] [--longest 4096] [--threads N]

Each side runs in a process of its own on the same texts: pieces of this repository's documents and sources, lengths
spread evenly in the logarithm from 8 tokens; short ones alone, then all. The naive loop reads one text at a time and
makes the whole logits, and their log-softmax. A third process measures the processor's matrix peak (torch, float32).

Memory is by how much the process grew, at its peak, over what it held when the model had read two tokens and was ready:
that leaves out the interpreter, torch and the weights, which both sides hold. Processor seconds stand beside the
wall's, as the machine may be busy with other work.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from infra.engines.causal_lm import CausalLm, CausalLmConfig, load
from infra.engines.cores import usable_cores
from tasks.surprise.scoring.causal import CausalScorer, ScoringConfig
from tasks.surprise.scoring.scorer import PLAIN, Text
from tasks.surprise.scoring.tokenizer import TextTokenizer

F32 = npt.NDArray[np.float32]
ROOT = Path(__file__).parents[2]
SHORTEST = 8
SHORT = 64  # most tokens of a text of the short set
SHORT_SHARE = 8  # the short set has one in so many of the tokens
MATRIX = 2048
ATOL_NATS = 1e-4


def texts(tokenizer: TextTokenizer, tokens: int, longest: int) -> list[Text]:
    """Pieces of about so many tokens in all."""
    found = sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("tasks/surprise/*.py")])
    sources = [source for source in found if source.stat().st_size > 0]
    whole = [tokenizer.tokenize([Text(source.read_text(encoding="utf-8"))])[0] for source in sources]
    rng = np.random.default_rng(0)
    pieces: list[Text] = []
    while tokens > 0:
        place = int(rng.integers(len(sources)))
        of_file = whole[place]
        length = min(int(np.exp(rng.uniform(np.log(SHORTEST), np.log(longest)))), of_file.ids.size)
        first = int(rng.integers(of_file.ids.size - length + 1))
        part = slice(int(of_file.starts[first]), int(of_file.ends[first + length - 1]))
        pieces.append(Text(sources[place].read_text(encoding="utf-8")[part]))
        tokens -= length
    return pieces


@torch.inference_mode()
def naive(loaded: CausalLm, tokenizer: TextTokenizer, of: Sequence[Text]) -> Iterator[F32]:
    for tokens in tokenizer.tokenize(of):
        ids = torch.tensor([[*tokenizer.prefix, *tokens.ids.tolist()]])
        logprobs = loaded.model(input_ids=ids, use_cache=False).logits.log_softmax(-1)
        yield -logprobs[0, :-1].gather(1, ids[0, 1:, None])[:, 0].numpy()


def ours(scorer: CausalScorer, tokenizer: TextTokenizer, of: Sequence[Text]) -> Iterator[F32]:
    for scored in scorer.score(of, [PLAIN]):
        nll = scored.nll["plain"]
        yield nll if tokenizer.prefix else nll[1:]


def child(side: str, options: argparse.Namespace) -> None:
    loaded = load(CausalLmConfig(model=options.model, device="cpu", threads=options.threads))
    tokenizer = TextTokenizer(loaded.tokenizer.backend_tokenizer, loaded.tokenizer.bos_token_id)
    weights = list(loaded.model.parameters())  # before the scorer lays them out anew
    figures: dict[str, Any] = {
        "weights_mib": sum(weight.nbytes for weight in weights) / 2**20,
        "operations_a_token": 2.0 * sum(weight.numel() for weight in weights if weight.ndim == 2),
    }
    del weights
    work: Callable[[Sequence[Text]], Iterator[F32]] = partial(naive, loaded, tokenizer)
    if side == "ours":
        work = partial(ours, CausalScorer(loaded.model, tokenizer, loaded.name, ScoringConfig()), tokenizer)
    list(work([Text("one two")]))
    for name, of in sets(tokenizer, options).items():
        ready = start_peak()
        wall, processor = time.perf_counter(), time.process_time()
        nll = np.concatenate(list(work(of)))
        figures[name] = {
            "tokens": int(nll.size),
            "texts": len(of),
            "wall_s": time.perf_counter() - wall,
            "processor_s": time.process_time() - processor,
            "growth_mib": status_mib("VmHWM") - ready,
        }
        np.save(options.folder / f"{side}-{name}.npy", nll)
    (options.folder / f"{side}.json").write_text(json.dumps(figures), encoding="utf-8")


def sets(tokenizer: TextTokenizer, options: argparse.Namespace) -> dict[str, list[Text]]:
    """The texts of each set, and its name."""
    return {
        f"{SHORTEST} to {SHORT}": texts(tokenizer, options.tokens // SHORT_SHARE, SHORT),
        f"{SHORTEST} to {options.longest}": texts(tokenizer, options.tokens, options.longest),
    }


def start_peak() -> float:
    """Forget the process's peak so far (Linux), and return what it holds now, in MiB."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return status_mib("VmRSS")


def status_mib(field: str) -> float:
    found = re.search(rf"^{field}:\s+(\d+) kB$", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


def peak(options: argparse.Namespace) -> None:
    torch.set_num_threads(options.threads)
    a, b = torch.randn(MATRIX, MATRIX), torch.randn(MATRIX, MATRIX)
    best = {"wall_s": float("inf"), "processor_s": float("inf")}
    for _ in range(8):
        wall, processor = time.perf_counter(), time.process_time()
        a @ b
        best["wall_s"] = min(best["wall_s"], time.perf_counter() - wall)
        best["processor_s"] = min(best["processor_s"], time.process_time() - processor)
    figures = {clock: 2 * MATRIX**3 / seconds for clock, seconds in best.items()}
    (options.folder / "peak.json").write_text(json.dumps(figures), encoding="utf-8")


def show(options: argparse.Namespace) -> None:
    naive_side, ours_side, best = (
        json.loads((options.folder / f"{name}.json").read_text(encoding="utf-8")) for name in ("naive", "ours", "peak")
    )
    weights = naive_side["weights_mib"]
    print(f"{options.model}, float32, {options.threads} threads; weights {weights:,.0f} MiB")
    names = [name for name in naive_side if name in ours_side and isinstance(naive_side[name], dict)]
    for name in names:
        pair = [naive_side[name], ours_side[name]]
        print(f"\n{pair[0]['texts']} texts of {name} tokens, {pair[0]['tokens']:,} tokens")
        print(f"{'':24}{'naive':>12}{'ours':>12}{'ratio':>8}")
        for clock in ("wall_s", "processor_s"):
            rates = [side["tokens"] / side[clock] for side in pair]
            print(f"{f'tokens/s, {clock[:-2]}':24}{rates[0]:12,.1f}{rates[1]:12,.1f}{rates[1] / rates[0]:8.2f}")
            shares = [rate * naive_side["operations_a_token"] / best[clock] for rate in rates]
            print(f"{f'of {best[clock] / 1e9:,.0f} GFLOP/s':24}{shares[0]:12.0%}{shares[1]:12.0%}")
        grown = [side["growth_mib"] for side in pair]
        print(f"{'memory, MiB':24}{grown[0]:12,.0f}{grown[1]:12,.0f}{grown[1] / max(grown[0], 1):8.2f}")
        found = [np.load(options.folder / f"{side}-{name}.npy") for side in ("naive", "ours")]
        worst = float(np.abs(found[0] - found[1]).max())
        print(f"largest difference: {worst:.1e} nats ({'within' if worst <= ATOL_NATS else 'ABOVE'} {ATOL_NATS:g})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--tokens", type=int, default=12_000)
    parser.add_argument("--longest", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--side", choices=("naive", "ours", "peak"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side == "peak":
        peak(options)
    elif options.side is not None:
        child(options.side, options)
    else:
        with tempfile.TemporaryDirectory() as folder:
            options.folder = Path(folder)
            load(CausalLmConfig(model=options.model, device="cpu"))  # dequantized now, not in one of the processes
            for side in ("peak", "naive", "ours"):
                command = [sys.executable, "-m", "tests.benchmarks.bench_score", *sys.argv[1:]]
                subprocess.run([*command, "--side", side, "--folder", folder], check=True)
            show(options)


if __name__ == "__main__":
    main()
