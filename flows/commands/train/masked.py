"""``privasis train masked``: make the masks once, tell what they cover, train, say what was trained."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.errors import Code, RunFailed
from flows.commands.quiet import quiet_prefect
from flows.commands.surprise.opening import check_reference, open_first, open_policy
from flows.commands.train.setting import deepspeed_config
from flows.config import ConfigError
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards.folder_lock import folder_locked
from infra.shards.location import Location
from infra.shards.spec import spec_hash
from tasks.report.formats import percent
from tasks.surprise.store.steps import has_groups, read_columns, read_pieces

if TYPE_CHECKING:
    from flows.train_masked import MaskedReport
    from tasks.surprise.policy import Policy
    from tasks.surprise.scored import ScoredSet
    from tasks.training.masked.config import MaskedRun
    from tasks.training.masked.maskings import Masking

DEFAULT_SETTINGS, DEFAULT_VOCABULARY = "masked-tiny", "4096"


@dataclass(frozen=True, slots=True)
class MasksAsked:
    """What masks are made of, where there are none yet.

    Attributes:
        data: folder of the scores.
        policies: files of frozen policies; each is a masking of the file's name, and has a random one beside it.
        model: to be trained: one from scratch by its name, or where it is.
        tokenizer: of one from scratch: a folder, or the size of a vocabulary to train; None for the usual one.
        opf: model of the privacy filter, None for no such masking.
    """

    data: Location
    policies: Sequence[Path]
    model: str
    tokenizer: str | None
    opf: str | None


def run(
    asked: MasksAsked, values: Mapping[str, Any], setting: str | None, steps: int | None, passes: float | None
) -> None:
    """Train one model.

    Args:
        asked: for the masks.
        values: settings of ``MaskedRun``, without ``start`` and ``settings``; ``masking`` may be None.
        setting: name of a ready DeepSpeed configuration, or a file.
        steps: instead of the configuration's.
        passes: over all rows, instead of both.

    Raises:
        ConfigError: a setting is wrong, or data, masks or model do not fit.
        ModelMissing: the model is nowhere.
        RunFailed: training stopped.
        EngineFailed: a process that trained ended by itself.
    """
    quiet_prefect()
    from tasks.surprise.policy import PolicyMismatch
    from tasks.surprise.scored import ScoresUnfit
    from tasks.surprise.shard import ChatUnfit
    from tasks.training.masked.config import MaskedRun
    from tasks.training.masked.ground import GroundUnfit
    from tasks.training.masked.maskings import MaskingUnfit
    from tasks.training.masked.steps import row_count
    from tasks.training.packing import ModelUnfit
    from tasks.training.steps import OutputTaken
    from tasks.training.stopped import TrainingStopped

    try:
        config = deepspeed_config(setting or DEFAULT_SETTINGS, steps)
        told = _masks(asked, values["masks"])
        masking = _chosen(values["masking"], asked, told)
        if passes is not None:
            rows = row_count(values["masks"], values["length"], pack=values["pack"])
            config = config.with_steps(max(1, round(passes * rows / config.train_batch_size)))
        wanted = MaskedRun(**{**values, "masking": masking}, start=_start(asked.model), settings=config)
        print_coverage(told, wanted.masking)
        print_trained(wanted, _train(wanted))
    except (MaskingUnfit, GroundUnfit, ChatUnfit, ModelUnfit, OutputTaken, PolicyMismatch, ScoresUnfit) as error:
        raise ConfigError(str(error)) from error
    except TrainingStopped as error:
        raise RunFailed(str(error), Code.USAGE) from error


def _masks(asked: MasksAsked, folder: Path) -> dict[str, Any]:
    """Return what is told of the masks in ``folder``, made now if there are none."""
    from tasks.training.masked.steps import COVERAGE, read_coverage, write_masks

    first = open_first(asked.data)
    root, dataset = asked.data.resolve().parent, asked.data.resolve().name
    policies: dict[str, Policy] = {}
    for file in asked.policies:
        if file.stem in policies:
            raise ConfigError(f"--policy {file}: two of that name: a masking is called after its file, rename one")
        policies[file.stem] = open_policy(file)
        check_reference(policies[file.stem], first, file)
        if policies[file.stem].procedure.propagation is not None and not has_groups(root, dataset):
            raise ConfigError(f"{file}: it propagates within groups, and no document of {asked.data} has one")

    def pieces() -> "Iterator[ScoredSet]":
        return read_pieces(root, dataset)

    documents = (document for piece in pieces() for document in piece.documents)
    with folder_locked(folder, wait=True):  # several trainings may begin at once: the first makes the masks
        if not (folder / COVERAGE).exists():
            tokenizer = _tokenizer(asked, documents)
            labelled = any(read_columns(root, dataset, ["labelled"])["labelled"].to_pylist())
            return write_masks(pieces, tokenizer, _maskings(policies, asked.opf, labelled=labelled), folder)
    told = read_coverage(folder)
    if told["scores_sha256"] != first.sha256:
        raise ConfigError(f"--masks {folder}: of other scores than {asked.data}: choose another folder, or delete it")
    _check_policies(policies, told, folder)
    _check_vocabulary(asked, documents, folder)
    return told


def _check_policies(policies: "Mapping[str, Policy]", told: Mapping[str, Any], folder: Path) -> None:
    """Refuse masks that were made without a policy that is named now, or by another one of its name."""
    for name, policy in policies.items():
        if name not in told.get("policies", {}):
            raise ConfigError(
                f"--masks {folder}: made without a policy {name}; masks are made once, by all policies: name another"
                " folder, with all of them"
            )
        if told["policies"][name] != spec_hash(policy):
            raise ConfigError(
                f"--masks {folder}: made by another policy {name} than this file is now: name another folder, or give"
                " the file another name"
            )


def _check_vocabulary(asked: MasksAsked, documents: Iterator[Any], folder: Path) -> None:
    """Refuse masks of another tokenizer than one that is named now; that of a model is looked at before training."""
    from infra.engines.causal_lm import load_tokenizer
    from tasks.training.masked.steps import TOKENIZER, tokenizer_hash

    if asked.tokenizer is None:
        return
    there = load_tokenizer(str(folder / TOKENIZER))
    if asked.tokenizer.isdecimal() and len(there) == int(asked.tokenizer):
        return
    if tokenizer_hash(_tokenizer(asked, documents)) != tokenizer_hash(there):
        raise ConfigError(
            f"--masks {folder}: of another tokenizer than --tokenizer {asked.tokenizer}: name another folder, or leave"
            " --tokenizer out"
        )


def _maskings(policies: "Mapping[str, Policy]", opf: str | None, *, labelled: bool) -> "list[Masking]":
    """All methods of the paper that the data allow."""
    from tasks.training.masked.maskings import ByMethod, ByPolicy, RandomLike, Unmasked, goldfish, oracle, stm

    found: list[Masking] = [Unmasked(), *([oracle()] if labelled else [])]
    for name, policy in policies.items():
        found += [ByPolicy(name, policy), RandomLike(f"random:{name}", name)]
    found += [goldfish(k, mode) for mode in ("paper", "reference") for k in (2, 3)]
    found.append(stm())
    if opf is not None:
        from infra.detectors.privacy_filter import PrivacyFilter
        from tasks.surprise.baselines.privacy_filter import Decoded

        found.append(ByMethod("opf", Decoded(PrivacyFilter.load(opf)), "trained"))
    return found


def _chosen(masking: str | None, asked: MasksAsked, told: Mapping[str, Any]) -> str:
    """The one that was asked for, else the first policy, else the labels."""
    chosen = masking or (asked.policies[0].stem if asked.policies else "oracle")
    if chosen not in told["maskings"]:
        raise ConfigError(f"--masking {chosen}: no such masking: {', '.join(told['maskings'])}")
    return chosen


def _tokenizer(asked: MasksAsked, documents: Iterator[Any]) -> Any:  # noqa: ANN401 - of transformers, imported late
    from infra.engines.causal_lm import load_tokenizer
    from tasks.training.masked.config import SCRATCH
    from tasks.training.masked.tokenizer import train_tokenizer, without_labels

    if asked.model not in SCRATCH:
        if asked.tokenizer is not None:
            raise ConfigError(f"--tokenizer {asked.tokenizer}: {asked.model} has its own; leave it out")
        return load_tokenizer(asked.model)
    chosen = asked.tokenizer or DEFAULT_VOCABULARY
    if chosen.isdecimal():
        return train_tokenizer(without_labels(documents), int(chosen))
    return load_tokenizer(chosen)


def _start(model: str) -> Any:  # noqa: ANN401 - imported late
    from tasks.training.masked.config import SCRATCH, Pretrained

    return SCRATCH.get(model, Pretrained(name=model))


def _train(wanted: "MaskedRun") -> "MaskedReport":
    from flows.train_masked import train_masked
    from tasks.training.steps import steps_behind

    with prefect_api(settings().cache / "prefect") as ready:
        _say(f"watch it at {ready().removesuffix('/api')}")
        try:
            return train_masked(wanted)
        except (KeyboardInterrupt, SystemExit):
            steps = steps_behind(wanted.output)
            _say(f"Stopped; the same command goes on after step {steps}" if steps else "Stopped before a checkpoint")
            raise


def print_coverage(told: Mapping[str, Any], chosen: str) -> None:
    """Print, before anything is trained, what each masking covers of the training data."""
    table = Table(box=None)
    table.add_column("masking", no_wrap=True)  # whole: it is what --masking takes
    for heading in ("targets covered", "collateral", "masked tokens", "documents touched"):
        table.add_column(heading)
    for name, figures in told["maskings"].items():
        table.add_row(
            Text(name, "bold" if name == chosen else ""),
            _share(figures["coverage"]),
            _share(figures["collateral"]),
            f"{figures['masked']:,}",
            f"{figures['touched_documents']:,} of {figures['documents']:,}",
        )
    Console(stderr=True).print(table)


def print_trained(wanted: "MaskedRun", report: "MaskedReport") -> None:
    """Print how training went, and where the model is."""
    data, metrics = report.trained.record["data"], report.trained.record["metrics"]
    rows = [
        ("documents", f"{data['train']['documents']:,}", f"{data['train']['left_out']:,} left out"),
        ("steps", f"{metrics['steps']:,}", f"{report.steps_before:,} were done" if report.steps_before else ""),
        ("tokens", f"{metrics['tokens']:,}", f"{metrics['seconds']:,.0f} seconds"),
        ("loss", f"{metrics['loss']:.4f}", "nats a token that counts, of the last step"),
    ]
    table = Table.grid(padding=(0, 2))
    for name, figure, detail in rows:
        table.add_row(Text(name), Text(figure, "bold"), Text(detail, "dim"))
    console = Console()
    console.print(table)
    console.print(Text(f"\n{report.trained.model}: safetensors, tokenizer, and training.json"), soft_wrap=True)


def _share(value: float | None) -> str:
    return "no labels" if value is None else percent(value)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
