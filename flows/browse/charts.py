"""The report's pictures of a record set, of a few shards from all over it: pages, not loads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from markupsafe import Markup

from flows.browse.catalog import Stage
from infra.shards.entries import Entry
from tasks.browse.svg import without_styles
from tasks.report.figures import Summary

MOST_ROWS = 1_500  # measured for a page: some seconds
KEPT = 8  # pages


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing with its title and what to know of it."""

    title: str
    svg: Markup
    says: str
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Charts:
    """Pictures, and what they are of."""

    summary: Summary
    notices: tuple[str, ...]
    pictures: tuple[Picture, ...]
    shards: int
    of: int


class ChartBook:
    """Draws charts once a state of a data set; one at a time, for matplotlib's settings are global."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[str, str], Charts] = {}
        self._lock = Lock()

    def charts(self, stage: Stage) -> Charts:
        """Return the charts of the records of a data set.

        Raises:
            TableDamaged, SchemaMismatch: of a file.
        """
        chosen = spread([entry for entry in stage.entries.entries if entry.rows("records")], MOST_ROWS)
        state = "".join(entry.files["records"].sha256 for entry in chosen)
        with self._lock:
            key = (stage.name.dataset, state)
            if key not in self._drawn:
                self._drawn[key] = _drawn(stage, chosen)
            while len(self._drawn) > KEPT:
                del self._drawn[next(iter(self._drawn))]
            return self._drawn[key]


def spread(entries: Sequence[Entry], most_rows: int) -> list[Entry]:
    """Choose shards at equal distances, the first among them, of about ``most_rows`` rows in all; one at least."""
    rows = sum(entry.rows("records") for entry in entries)
    if rows <= most_rows:
        return list(entries)
    count = max(1, len(entries) * most_rows // rows)
    return [entries[number * len(entries) // count] for number in range(count)]


def _drawn(stage: Stage, chosen: Sequence[Entry]) -> Charts:
    from tasks.report.notices import notices  # here: who asks for no chart need not wait for what draws them
    from tasks.report.summary import summarize

    store = stage.store
    summary = summarize(
        (store.read_shard("records", entry.shard) for entry in chosen),
        (store.read_shard("rejects", entry.shard) for entry in chosen),
    )
    return Charts(summary, tuple(notices(summary)), _pictures(stage, summary), len(chosen), len(stage.entries.entries))


def _pictures(stage: Stage, summary: Summary) -> tuple[Picture, ...]:
    from tasks.report import pictures  # here: matplotlib
    from tasks.report.compare import compare
    from tasks.report.domains import categories

    name = stage.name.dataset
    wanted: list[tuple[bool, str, Callable[[], Markup], str, bool]] = [
        (
            True,
            "Labels",
            lambda: pictures.domains(categories(summary)),
            "Share of records by domain, beside Table 1 of the paper.",
            False,
        ),
        (True, "Length", lambda: pictures.lengths(summary), "Words a record.", False),
        (
            True,
            "Attributes and groups",
            lambda: pictures.annotations(summary),
            "How much there is to find in a record.",
            False,
        ),
        (
            bool(summary.refinement),
            "Refinement",
            lambda: pictures.refinement(summary.refinement),
            "What became of the revisions, step by step.",
            False,
        ),
        (
            summary.records > 1,
            "Diversity",
            lambda: pictures.diversity(compare({name: summary})),
            "This set (diamond) among the paper’s sets and human-written ones.",
            True,
        ),
        (
            bool(summary.drops),
            "Rejects",
            lambda: pictures.drops(summary.drops),
            "Rows that did not become records, by reason and step.",
            False,
        ),
        (
            bool(summary.profiles.ages),
            "People",
            lambda: pictures.ages(summary.profiles.ages),
            "Who the records are about, by age.",
            False,
        ),
        (
            bool(summary.spending),
            "Tokens and cost",
            lambda: pictures.spending(summary.spending),
            "By model, rejects included.",
            True,
        ),
    ]
    return tuple(
        Picture(title, without_styles(str(draw())), says, wide) for there, title, draw, says, wide in wanted if there
    )
