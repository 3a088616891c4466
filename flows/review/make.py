"""From data sets and a person's own texts to a blind sheet and its key. Texts are read twice: to count, and to take."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from infra.shards.store import StageStore
from tasks.diversity.words import count_words
from tasks.report.sample import lots
from tasks.reviewing.sampling import Candidate, Pool, draw_matched, longer_share
from tasks.reviewing.sheet import Key, Sheet, SheetUnfit, Text, sheet_of, tidy
from tasks.reviewing.tells import Length, tells
from tasks.surprise.documents import Document
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.find import parts_of
from tasks.surprise.reading.input import Input, Reject, Rows, read

_AT_ONCE = 512  # rows of a person's own texts


@dataclass(frozen=True, slots=True)
class Made:
    """A sheet, its key, and what was left out of the human-written texts: reason -> rows."""

    sheet: Sheet
    key: Key
    left_out: Counter[str]


def make_sheet(
    datasets: Mapping[str, StageStore], human: Sequence[Path], *, text_column: str, count: int, seed: int
) -> Made:
    """Draw ``count`` records of the data sets and ``count`` of a person's own texts, matched by length.

    Args:
        datasets: name -> store of its records.
        human: files, folders or patterns: Parquet, JSON lines or texts.
        text_column: of the first two.
        count: texts of each source.
        seed: of the draw.

    Raises:
        TooFew: there are not so many of like length.
        SheetUnfit: one text was drawn twice.
        InputUnfit: a person's own texts cannot be read.
    """
    theirs = HumanTexts(human, text_column)
    left_out = Counter[str]()
    synthetic_pool = _synthetic_pool(datasets, count, seed)
    human_pool = theirs.pool(count, seed, left_out)
    drawn = draw_matched(synthetic_pool, human_pool, count)
    synthetic_texts = list(_records(datasets, drawn.synthetic))
    human_texts = [theirs.text(each) for each in drawn.human]
    sheet, entries = sheet_of([*synthetic_texts, *human_texts], seed)
    lengths = [[each.words for each in side] for side in (drawn.synthetic, drawn.human)]
    key = Key(
        sheet=sheet.digest,
        seed=seed,
        factor=drawn.factor,
        entries=entries,
        lengths=(
            Length.counted("all synthetic", synthetic_pool.lengths),
            Length.counted("all human-written", human_pool.lengths),
            Length.counted("drawn synthetic", Counter(lengths[0])),
            Length.counted("drawn human-written", Counter(lengths[1])),
        ),
        longer_share=longer_share(*lengths),
        tells=tells([tidy(each.text) for each in synthetic_texts], [tidy(each.text) for each in human_texts]),
    )
    return Made(sheet, key, left_out)


def _synthetic_pool(datasets: Mapping[str, StageStore], count: int, seed: int) -> Pool:
    pool = Pool(count)
    for origin, store in datasets.items():
        for place, shard in enumerate(store.manifest.shards()):
            rows = store.read_shard("records", shard, ["record_id", "words"])
            names = rows["record_id"].to_pylist()
            for name, length, lot in zip(names, rows["words"].to_pylist(), lots(seed, names), strict=True):
                if length:
                    pool.offer(Candidate(origin, name, place, length, lot))
    return pool


def _records(datasets: Mapping[str, StageStore], drawn: Sequence[Candidate]) -> Iterator[Text]:
    wanted = defaultdict[tuple[str, int], dict[str, Candidate]](dict)
    for each in drawn:
        wanted[each.origin, each.place][each.name] = each
    for (origin, place), of_shard in sorted(wanted.items()):
        store = datasets[origin]
        rows = store.read_shard("records", store.manifest.shards()[place], ["record_id", "text"])
        for name, text in zip(rows["record_id"].to_pylist(), rows["text"].to_pylist(), strict=True):
            if name in of_shard:
                yield Text("synthetic", origin, name, text, of_shard[name].words)


class HumanTexts:
    """A person's own texts, by the number of their row."""

    def __init__(self, paths: Sequence[Path], text_column: str) -> None:
        """Find them.

        Raises:
            InputUnfit: nothing is there, or no row has that column.
        """
        self._origin = ", ".join(map(str, paths))
        self._input = Input(parts_of(paths, "auto", (), Columns(text=text_column)))
        self._input.check_columns([text_column])

    def pool(self, count: int, seed: int, left_out: Counter[str]) -> Pool:
        """Offer each text once; rows that cannot be read, are empty or repeat another are counted in ``left_out``."""
        pool, seen = Pool(count), set[bytes]()
        for start in range(0, self._input.rows, _AT_ONCE):
            rows = self._rows(start, start + _AT_ONCE)
            for number, (place, item, lot) in enumerate(
                zip(rows.places, rows.items, lots(seed, rows.places), strict=True), start
            ):
                if not isinstance(item, Document):
                    left_out[item.reason if isinstance(item, Reject) else "a chat"] += 1
                    continue
                body = tidy(item.text)
                length = count_words(body)
                digest = blake2b(body.encode("utf-8", "surrogatepass"), digest_size=12).digest()
                if not length or digest in seen:
                    left_out["repeated" if length else "no words"] += 1
                    continue
                seen.add(digest)
                pool.offer(Candidate(self._origin, place, number, length, lot))
        return pool

    def text(self, candidate: Candidate) -> Text:
        """Read one again.

        Raises:
            SheetUnfit: the file was changed in between.
        """
        (item,) = self._rows(candidate.place, candidate.place + 1).items
        if not isinstance(item, Document) or count_words(tidy(item.text)) != candidate.words:
            raise SheetUnfit(f"{candidate.name}: was changed while the sheet was made: make it again")
        return Text("human", candidate.origin, candidate.name, item.text, candidate.words)

    def _rows(self, start: int, stop: int) -> Rows:
        return read(self._input.slices(start, stop))
