"""``privasis clean``: a text, a folder or a column in; clean texts out, or nothing at all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flows.clean import CleaningJob, batch_of, clean_many, clean_one, is_batch, restore_many
from flows.cleaning_model import model_asked
from flows.commands.errors import Code, RunFailed
from flows.commands.wording import counted
from flows.config import ConfigError
from infra.shards import files
from tasks.cleaning.batches.document import BatchUnusable
from tasks.cleaning.decoding import NotText, decoded
from tasks.cleaning.failure import CleaningFailed, advice
from tasks.cleaning.private_file import MapUnusable, private_file, read_map
from tasks.cleaning.pseudonyms import restore
from tasks.cleaning.steps import Tally, journals_of
from tasks.cleaning.values import ValuesUnusable, named_values

_OURS = ("too_long", "unicode")  # reasons that are not the model's


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanFlags:
    """What a person said on the command line."""

    source: str
    instruction: str | None
    model: str | None
    config: Path | None
    base_url: str | None
    context_tokens: int | None
    column: str
    output: Path | None
    chunks: bool
    value: list[str]
    values: Path | None
    report: Path | None
    pseudonyms: Path | None
    restore: Path | None


def run(flags: CleanFlags) -> None:
    """Clean what ``flags`` names, or put the values back where pseudonyms stand.

    Raises:
        ConfigError: the flags, the source or a map are not what they should be.
        RunFailed: texts were not cleaned.
        BackendUnavailable: the model does not answer.
    """
    with _told_as_usage():
        if flags.restore is not None:
            _restore(flags, flags.restore)
        elif is_batch(flags.source):
            _many(flags)
        else:
            _one(flags)


@contextmanager
def _told_as_usage() -> Iterator[None]:
    try:
        yield
    except (BatchUnusable, MapUnusable, ValuesUnusable) as error:
        raise ConfigError(str(error)) from error


def _job(flags: CleanFlags) -> CleaningJob:
    if not (flags.instruction or "").strip():
        raise ConfigError('--instruction: say what is to be done, such as "Leave out all names and dates."')
    return CleaningJob(
        model=model_asked(flags.config, flags.model, flags.base_url, flags.context_tokens),
        instruction=str(flags.instruction).strip(),
        values=named_values(flags.value, flags.values),
        in_parts=flags.chunks,
        pseudonyms=flags.pseudonyms,
    )


def _one(flags: CleanFlags) -> None:
    job, text = _job(flags), _read(flags.source)
    if flags.output is not None and _is_same(flags.output, flags.source):
        raise ConfigError(f"--output {flags.output}: is the text itself, which would be lost: give another name")
    try:
        cleaned, report = clean_one(text, job)
    except CleaningFailed as failed:
        code = Code.USAGE if failed.reason in _OURS else Code.OUTSIDE
        raise RunFailed(f"{flags.source}: not cleaned, nothing is written: {failed}", code) from failed
    if flags.report is not None:
        with private_file(flags.report) as file:
            file.write(report.model_dump_json(indent=1))
    _write(flags.output, cleaned.text)
    if report.leaking:
        keys = ", ".join(dict.fromkeys(report.leaking))
        _say(f"Still in the clean text: the value of {keys}.")


def _many(flags: CleanFlags) -> None:
    job, target = _job(flags), _target(flags)
    tally = clean_many(Path(flags.source), target, flags.column, job, flags.report, _progress)
    _say(f"{counted(tally.clean, 'clean text')} in {target}")
    if tally.leaking:
        _say(f"A named value still stands in {counted(tally.leaking, 'clean text')}: --report says which.")
    if failed := tally.failed.total():
        reasons = "; ".join(f"{count:,} {reason} ({advice(reason)})" for reason, count in tally.failed.most_common())
        raise RunFailed(
            f"{counted(failed, 'text')} not cleaned: {reasons}. The table of rejects beside {target} names them; the"
            " same command asks for them again, and for nothing else",
            Code.OUTSIDE,
        )


def _restore(flags: CleanFlags, path: Path) -> None:
    pseudonyms = read_map(path).pseudonyms
    if not is_batch(flags.source):
        _write(flags.output, restore(_read(flags.source), pseudonyms))
        return
    with batch_of(Path(flags.source), _target(flags), flags.column) as batch:
        restore_many(batch, pseudonyms)


def _target(flags: CleanFlags) -> Path:
    """Return where a batch goes; what is there already is only gone on with.

    Raises:
        ConfigError: nobody said, the source is not there, or something else is.
    """
    source, target = Path(flags.source), flags.output
    if not source.exists():
        raise ConfigError(f"{source}: no such file or folder")
    if target is None:
        raise ConfigError(f"{source} holds several texts: say with --output where the clean ones go")
    if not source.is_dir() and target.suffix != source.suffix:
        raise ConfigError(f"--output {target}: has to end in {source.suffix}, as the source does")
    if target.exists() and not journals_of(target).exists():
        raise ConfigError(f"--output {target}: is there already: give another name, or delete it")
    return target


def _is_same(target: Path, source: str) -> bool:
    return source != "-" and target.exists() and target.samefile(source)


def _read(source: str) -> str:
    if source != "-" and not Path(source).exists():
        raise ConfigError(f"{source}: no such file or folder; - reads standard input")
    data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    try:
        return decoded(data)
    except NotText as error:
        raise ConfigError(f"{source}: {error}") from error


def _write(target: Path | None, text: str) -> None:
    """Write a text as it is: no line end is added or translated."""
    if target is None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    else:
        files.put(target.absolute(), text.encode())


def _progress(tally: Tally) -> None:
    _say(f"{tally.clean + tally.failed.total():,} texts done, {tally.failed.total():,} of them not cleaned")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
