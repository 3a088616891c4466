"""Does an invented profile describe a real person? Asked of a model that searches the web (spec, section 3)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import pyarrow as pa

from infra.llm.types import JsonSchema, ReplyUnusable, RequestRejected, Searched, Searcher, SearchUnusable, Usage
from tasks.concurrency import map_bounded
from tasks.identities.prompts import IDENTITY
from tasks.records import IDENTITY_CHECKS
from tasks.synthesis.replies import parse_json

Verdict = Literal["matched", "similar_name", "no_match", "unanswered"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
# What a search can find. Numbers of documents, blood type and income are in no public page, so they stay here.
SEARCHABLE: Mapping[str, str] = {
    "full name": "full_name",
    "sex": "sex",
    "age": "age",
    "ethnicity": "ethnicity",
    "citizenship": "citizenship",
    "language": "language",
    "e-mail address": "email",
    "user name": "user_handle",
    "web address": "url",
    "phone number": "phone",
}
SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": [verdict for verdict in VERDICTS if verdict != "unanswered"]},
        "reason": {"type": "string"},
    },
    "required": ["verdict", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class IdentityCheck:
    """What was found about one profile."""

    record_id: str
    verdict: Verdict
    reason: str
    searched: Searched

    def row(self, model: str, cost_usd: float) -> dict[str, Any]:
        """Return the row of ``IDENTITY_CHECKS``."""
        return {
            "record_id": self.record_id,
            "model": model,
            "verdict": self.verdict,
            "reason": self.reason,
            "sources": list(self.searched.sources),
            "searches": self.searched.searches,
            "tokens": asdict(self.searched.usage),
            "cost_usd": cost_usd,
            "prompt_sha": IDENTITY.sha,
        }


async def check_identity(searcher: Searcher, record_id: str, profile: Mapping[str, Any]) -> IdentityCheck:
    """Ask about one profile; what cannot be answered is ``unanswered``, never ``no_match``.

    Raises:
        BackendUnavailable: the model does not answer; try again later.
    """
    full = {**profile, "full_name": f"{profile['first_name']} {profile['last_name']}"}
    facts = [(name, str(full[column])) for name, column in SEARCHABLE.items()]
    searched = Searched("", Usage(), 0, ())
    try:
        searched = await searcher.search(IDENTITY.render(facts=facts), SCHEMA)
        answer = parse_json(searched.text, SCHEMA)
    except SearchUnusable as error:
        return IdentityCheck(record_id, "unanswered", str(error), error.searched)
    except (ReplyUnusable, RequestRejected) as error:
        return IdentityCheck(record_id, "unanswered", str(error), searched)
    if not searched.searches:
        return IdentityCheck(record_id, "unanswered", "the model answered without a search of the web", searched)
    return IdentityCheck(record_id, answer["verdict"], answer["reason"], searched)


async def check_identities(
    searcher: Searcher,
    profiles: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    in_flight: int,
    done: Callable[[IdentityCheck], None],
) -> None:
    """Ask about each (record id, profile), and give each check to ``done`` as it comes.

    Raises:
        BackendUnavailable: the model does not answer; what ``done`` was given is kept.
    """

    async def one(item: tuple[str, Mapping[str, Any]]) -> None:
        done(await check_identity(searcher, *item))

    await map_bounded(one, profiles, in_flight)


def table_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return the table of checks, by record id."""
    return pa.Table.from_pylist(sorted(rows, key=lambda row: row["record_id"]), IDENTITY_CHECKS)
