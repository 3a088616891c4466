"""A few rows of what a run has made, on the run's page: their shape, unless the run was told to show more."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from prefect.artifacts import create_markdown_artifact

from flows.artifacts.markdown import escaped, fenced
from flows.artifacts.run import artifact_only, key_of
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks.report.formats import count

Sample = Literal["none", "masked", "full"]
ROWS = 3
_WORD = re.compile(r"\w+")
HIDDEN = "(named after a value)"
COLUMNS = {
    "records": ("record_id", "language", "record_type", "domain", "text", "attributes", "groups", "words"),
    "triplets": ("record_id", "language", "text", "instruction", "sanitized", "verified", "targets", "words"),
}


def tell_sample(store: StageStore, table: Literal["records", "triplets"], shard: ShardRange, sample: Sample) -> None:
    """Write the first rows of ``shard`` as an artifact, as far as ``sample`` lets them be seen.

    Args:
        store: of the stage.
        table: which of its tables.
        shard: a committed one.
        sample: ``masked`` shows groups, counts and lengths; ``full`` the texts, too.
    """
    if sample == "none":
        return
    rows = store.read_shard(table, shard, list(COLUMNS[table])).slice(0, ROWS).to_pylist()
    render = record_block if table == "records" else triplet_block
    blocks = [render(row, full=sample == "full") for row in rows]
    dataset = store.layout.manifest.parents[1].name
    hint = "" if sample == "full" else "\n\nTexts and values are left out: `sample: full` shows them."
    with artifact_only("sample"):
        create_markdown_artifact(
            "\n\n".join([f"First rows of {table} in {shard.name}.{hint}", *blocks]),
            key=key_of("sample", dataset, table),
            description=f"A few {table}, {'with their texts' if sample == 'full' else 'texts masked'}",
        )


def record_block(row: Mapping[str, Any], *, full: bool) -> str:
    """Return a record as Markdown: its groups, how much is in them, and how long it is.

    Models name types and groups, and may do so after what is in the record: masked, such a name is left out.
    """
    values = {each["key"]: len(each["value"]) for each in row["attributes"]}
    private = () if full else [each["value"] for each in row["attributes"]]
    type_ = named(row["record_type"], private) if row["record_type"] else ""
    kind = " · ".join(escaped(each) for each in (type_, row["domain"], row["language"]) if each)
    lines = [f"### {escaped(row['record_id'])}", kind, "", _length("text", row["text"], row["words"]), ""]
    lines += ["| group | values | characters |", "| --- | ---: | ---: |"]
    for group in row["groups"]:
        sizes = [values[key] for key in group["keys"] if key in values]
        lines.append(f"| {escaped(named(group['name'], private))} | {count(len(sizes))} | {_range(sizes)} |")
    grouped = {key for group in row["groups"] for key in group["keys"]}
    if alone := [size for key, size in values.items() if key not in grouped]:
        lines.append(f"| in no group | {count(len(alone))} | {_range(alone)} |")
    if full:
        lines += ["", fenced(row["text"])]
    return "\n".join(lines)


def named(name: str, private: Sequence[str]) -> str:
    """Return a name, unless it has a word of a private value in it that may be a proper name or a number."""
    telling = {word.casefold() for value in private for word in _WORD.findall(value) if not word.islower()}
    return HIDDEN if telling.intersection(_WORD.findall(name.casefold())) else name


def triplet_block(row: Mapping[str, Any], *, full: bool) -> str:
    """Return a triplet as Markdown: what is to go, whether it has gone, and how long the texts are."""
    labels = Counter(target["label"] for target in row["targets"])
    asked = ", ".join(f"{number} {escaped(label)}" for label, number in sorted(labels.items()))
    found = "no value of a target is left" if row["verified"] else "a value of a target is left"
    lines = [f"### {escaped(row['record_id'])}", f"{asked or 'no targets'}; {found}", ""]
    parts = [(name, row[name]) for name in ("text", "instruction", "sanitized")]
    for name, text in parts:
        lines.append(f"- {_length(name, text, len(text.split()))}")
    if full:
        for name, text in parts:
            lines += ["", f"**{name}**", "", fenced(text)]
    return "\n".join(lines)


def _length(name: str, text: str, words: int) -> str:
    return f"{name}: {count(words)} words, {count(len(text))} characters, {count(text.count(chr(10)) + 1)} lines"


def _range(sizes: list[int]) -> str:
    if not sizes:
        return ""
    return str(sizes[0]) if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
