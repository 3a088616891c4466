"""A root so small that every row of it is known: what is in it was written to break a page."""

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from infra.shards.location import Location
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks import records

EVIL = "<script>alert('x')</script>"
TOKENS = {"prompt": 100, "cached": 10, "completion": 20, "reasoning": 5}
SPENT = {"calls": 3, "tokens": TOKENS, "cost_usd": 0.5}
SHAS = [{"prompt": f"draft{EVIL}", "sha": "ab" * 32}]
PERSON = {field.name: None for field in records.PROFILE} | {"first_name": EVIL, "age": 41}


def attribute(key: str, value: str, text: str) -> dict[str, Any]:
    """An attribute where it first stands in the text."""
    start = text.index(value)
    span = {"start": start, "end": start + len(value)}
    return {"key": key, "value": value, "source": "text", "grounded": True, "spans": [span]}


def record(index: int, text: str = "", **more: Any) -> dict[str, Any]:
    """A row of the records table."""
    text = text or f"Letter {index} to Ann Lee of Oslo."
    return {
        "record_id": f"r-{index:08d}",
        "index": index,
        "seed": 7,
        "model": "m",
        "language": "English",
        "profile": PERSON,
        "event": {"name": "move", "domain": "Legal", "date": date(2020, 1, 2), "attributes": []},
        "record_type": "letter",
        "context": "a story",
        "format": None,
        "text": text,
        "domain": "Legal",
        "subcategory": None,
        "attributes": [],
        "groups": [],
        "refinement": [],
        "embedding": [1.0, 0.0],
        "words": len(text.split()),
        "prompt_shas": SHAS,
        **SPENT,
        **more,
    }


def reject(index: int, reason: str = "refusal", **more: Any) -> dict[str, Any]:
    """A row of the rejects table."""
    return {
        "record_id": f"r-{index:08d}",
        "index": index,
        "seed": 7,
        "model": "m",
        "language": "English",
        "outcome": "quarantined",
        "step": "draft",
        "reason": reason,
        "detail": "it said no",
        "last_reply": None,
        **SPENT,
        **more,
    }


def evil_record(index: int) -> dict[str, Any]:
    """A record whose every text is a script."""
    text = f"Dear {EVIL}, born <b>bold</b> \u202e \x1b[31m"
    return record(
        index,
        text,
        record_type=EVIL,
        context=EVIL,
        format=EVIL,
        domain=EVIL,
        subcategory=EVIL,
        model=EVIL,
        language=EVIL,
        attributes=[attribute(f"key{EVIL}", EVIL, text), attribute("birth", "<b>bold</b>", text)],
        groups=[{"name": f"group{EVIL}", "keys": [f"key{EVIL}"]}],
        refinement=[
            {
                "step": 1,
                "verdict": "candidate",
                "candidate_shown_first": True,
                "pool_size": 10,
                "vendi_current": 2.0,
                "vendi_candidate": 2.25,
                "score": 0.125,
                "accepted": True,
            }
        ],
        event={"name": EVIL, "domain": EVIL, "date": None, "attributes": [{"key": EVIL, "value": EVIL}]},
    )


def commit(store: StageStore, first: int, last: int, tables: dict[str, list[dict[str, Any]]], **more: Any) -> None:
    """Commit a shard of literal rows."""
    made = {name: pa.Table.from_pylist(tables.get(name, []), schema=schema) for name, schema in store.tables.items()}
    shard = ShardRange(first, last)
    with store.acquire(shard) as lease:
        store.commit(
            shard,
            made,
            lease,
            sum(table.num_rows for table in made.values()),
            spec_hash=more.get("spec_hash", "s" * 64),
            input_hashes=more.get("input_hashes", {}),
            summary=ShardSummary(reasons=more.get("reasons", {}), notes=more.get("notes", {})),
        )


def store(root: Location, dataset: str, stage: str) -> StageStore:
    """Return the store of a stage by its tables here."""
    from flows.browse.stages import STAGES

    return StageStore(root, dataset, stage, STAGES[stage])


def tiny_root(root: Path) -> Path:
    """Write two data sets: ``letters`` with records, rejects, a triplet, an evaluation; ``texts`` with scores."""
    made = store(root, "letters", "records")
    commit(
        made,
        0,
        4,
        {"records": [record(0), evil_record(1), record(3)], "rejects": [reject(2, EVIL, detail=EVIL, last_reply=EVIL)]},
    )
    commit(
        made, 4, 6, {"records": [record(4, "A bill for José, blood pressure 120/80."), record(5, language="German")]}
    )
    triplet = {
        "record_id": "r-00000001",
        "index": 1,
        "seed": 7,
        "model": EVIL,
        "language": "English",
        "text": f"Dear {EVIL} of Oslo",
        "instruction": f"Leave out {EVIL}",
        "sanitized": "Dear  of Oslo",
        "verified": True,
        "targets": [
            {
                "name": EVIL,
                "is_group": False,
                "label": "drop",
                "weight": 5.0,
                "attributes": [{"key": EVIL, "value": EVIL}],
                "members_named": False,
                "passes": [
                    {
                        "instruction": EVIL,
                        "edits": [
                            {
                                "chunk": 0,
                                "named": True,
                                "spans": [{"start": 5, "stop": 5 + len(EVIL), "text": EVIL, "match": "value"}],
                                "unmatched": [],
                                "how": "rewritten",
                                "after": "Dear  of Oslo",
                            }
                        ],
                    }
                ],
            }
        ],
        "retained": [{"key": "city", "value": "Oslo", "overlap": 0.0}],
        "leaks": [],
        "chunks": [{"start": 0, "stop": 13 + len(EVIL), "sanitized": "Dear  of Oslo"}],
        "asked_length": "short",
        "words": 4,
        "instruction_words": 3,
        "sanitized_words": 3,
        "retries": 0,
        "prompt_shas": SHAS,
        **SPENT,
    }
    commit(store(root, "letters", "triplets"), 0, 4, {"triplets": [triplet], "triplet_rejects": [reject(0)]})
    fact = {"key": EVIL, "value": EVIL, "short": False, "guess": EVIL, "reason": None}
    judged = {
        "record_id": "r-00000001",
        "index": 1,
        "seed": 7,
        "sanitizer": EVIL,
        "evaluator": EVIL,
        "second_evaluator": None,
        "language": "English",
        "domain": None,
        "instruction": EVIL,
        "sanitized": f"so {EVIL}",
        "failure": None,
        "targets": [
            {**fact, "target": 0, "outcome": "direct", "original_guess": None, "closer": None, "second_closer": None}
        ],
        "retained": [{**fact, "outcome": "lost"}],
        "prompt_shas": SHAS,
        **SPENT,
    }
    evaluation = StageStore(
        root / "letters" / "evaluations", "by-m", "evaluations", {"evaluations": records.EVALUATIONS}
    )
    commit(evaluation, 0, 4, {"evaluations": [judged]})
    split = {"record_id": "r-00000001", "index": 1, "split": "train", "reason": EVIL, "person": "p", "place": 0.5}
    commit(store(root, "letters", "splits"), 0, 4, {"splits": [split]})
    text = f"Hi {EVIL}"
    score = {
        "document_id": f"d{EVIL}",
        "index": 0,
        "group": EVIL,
        "text": text,
        "supervised": None,
        "labels": [{"start": 3, "end": 6, "category": EVIL}],
        "labelled": True,
        "regions": [],
        "strata": [{"name": EVIL, "value": EVIL}],
        "covered": len(text),
        "token_ids": [1, 2],
        "token_starts": [0, 3],
        "token_ends": [3, len(text)],
        "nll": [{"name": "plain", "values": [0.25, 9.0]}],
        "model": EVIL,
        "tokenizer_sha256": "cd" * 32,
    }
    notes = {"reference": {"model": EVIL, "tokenizer_sha256": "cd" * 32}, "prompts": {}}
    unscored = {"document_id": "x", "index": 1, "place": EVIL, "reason": EVIL, "detail": EVIL}
    commit(store(root, "texts", "scores"), 0, 2, {"scores": [score], "score_rejects": [unscored]}, notes=notes)
    return root
