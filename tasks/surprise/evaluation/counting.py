"""From levels of a method, over tokens or characters, to the units that are counted."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tasks.surprise.baselines.methods import Levels, Material
from tasks.surprise.policy import Unit
from tasks.surprise.project import touched
from tasks.surprise.rows import I64, Bool, offsets_of, row_numbers
from tasks.surprise.segments import Cut, delimited, lines, sentences, tile
from tasks.surprise.spans import Spans, flags, overlaps, runs
from tasks.surprise.units import Units, piece_units
from tasks.surprise.windows import PieceWindows, tiled_windows, whole_windows

DELIMITERS = ".,;:!?\n"  # of segments, as of ``SegmentWindows``


@dataclass(frozen=True, eq=False)
class Tally:
    """The units of one kind that a method is judged by.

    Attributes:
        units: with levels and targets, shape (U,).
        documents: the document of each, shape (U,).
        categories: for each category its targets, shape (U,) each.
    """

    units: Units
    documents: I64
    categories: Mapping[str, Bool]

    def only(self, kept: Bool) -> "Tally":
        """Restrict to some units, shape (U,)."""
        categories = {name: target[kept] for name, target in self.categories.items()}
        return Tally(self.units.only(kept), self.documents[kept], categories)


def tally(material: Material, levels: Levels, unit: Unit) -> Tally:
    """Make the units of ``unit`` from a method's levels; units outside supervision are left out.

    So are those of documents that do not count (``Material.counted``).

    A piece of text (line, sentence, segment, completion) is masked once all of its tokens that may be masked are, and a
    target if it shares a character that may be masked with a labelled span.

    Raises:
        ValueError: the material has no tokens and ``unit`` is no character.
    """
    made = _of_all(material, levels, unit)
    return made if material.counted is None else made.only(material.counted[made.documents])


def _of_all(material: Material, levels: Levels, unit: Unit) -> Tally:
    match unit:
        case "token":
            return _tokens(material, levels)
        case "character":
            return _characters(material, levels)
        case "completion":
            return _completions(material, levels)
        case "line":
            return _pieces(material, levels, lines)
        case "sentence":
            return _pieces(material, levels, sentences)
        case "segment":
            return _pieces(material, levels, delimited(DELIMITERS))


def _tokens(material: Material, levels: Levels) -> Tally:
    batch = material.scored("counting tokens")
    categories = {name: touched(batch.tokens, spans) for name, spans in _labels(material).items()}
    units = Units(levels.on_tokens(batch.tokens), touched(batch.tokens, material.targets))
    return Tally(units, row_numbers(batch.tokens.row_offsets), categories).only(batch.supervised)


def _characters(material: Material, levels: Levels) -> Tally:
    lengths = material.lengths
    categories = {name: flags(spans, lengths) for name, spans in _labels(material).items()}
    units = Units(levels.on_characters(), flags(material.targets, lengths))
    return Tally(units, row_numbers(offsets_of(lengths)), categories).only(material.supervised)


def _pieces(material: Material, levels: Levels, cut: Cut) -> Tally:
    pieces = tile(material.texts, cut)
    made = tiled_windows(material.scored("counting pieces of text").tokens, pieces)
    return _of_windows(material, levels, pieces, made)


def _completions(material: Material, levels: Levels) -> Tally:
    batch = material.scored("counting completions")
    windows = whole_windows(batch.tokens.row_offsets, batch.supervised)
    rows = row_numbers(windows.row_offsets)
    stop = material.lengths.copy()  # a text without a token that may be masked is there, and never masked
    start = np.zeros(stop.size, dtype=np.int64)
    start[rows] = batch.tokens.spans.start[windows.first]
    stop[rows] = batch.tokens.spans.end[windows.stop - 1]
    window_of = np.full(stop.size, -1)
    window_of[rows] = np.arange(rows.size)
    completions = Spans(start, stop, np.arange(stop.size + 1))
    return _of_windows(material, levels, completions, PieceWindows(windows, window_of))


def _of_windows(material: Material, levels: Levels, pieces: Spans, made: PieceWindows) -> Tally:
    batch = material.scored("counting pieces of text")
    # What may not be masked does not keep its piece from being masked.
    of_tokens = np.where(batch.supervised, levels.on_tokens(batch.tokens), np.inf)
    allowed = material.supervised
    units = piece_units(of_tokens, made, pieces, _within(allowed, material.targets, material.lengths))
    categories = {
        name: overlaps(pieces, _within(allowed, spans, material.lengths)) for name, spans in _labels(material).items()
    }
    counted = Tally(units, row_numbers(pieces.row_offsets), categories)
    return counted.only(_maskable(material, allowed, pieces, made))


def _within(allowed: Bool, spans: Spans, lengths: I64) -> Spans:
    """What of the spans may be masked: what the user of a chat says makes no target of the answer in the same line."""
    return runs(flags(spans, lengths) & allowed, lengths)


def _maskable(material: Material, allowed: Bool, pieces: Spans, made: PieceWindows) -> Bool:
    """Pieces with a token that may be masked; past the cut of a text those with such a character."""
    inside = np.append(0, np.cumsum(material.scored("counting pieces of text").supervised))
    of_windows = inside[made.windows.stop] > inside[made.windows.first]
    characters = np.append(0, np.cumsum(allowed))
    base = offsets_of(material.lengths)[:-1][row_numbers(pieces.row_offsets)]
    kept = characters[base + pieces.end] > characters[base + pieces.start]
    held = made.window_of >= 0
    kept[held] = of_windows[made.window_of[held]]
    return np.asarray(kept, dtype=np.bool_)


def _labels(material: Material) -> Mapping[str, Spans]:
    """Labelled spans of each category."""
    names = sorted({label.category for document in material.documents for label in document.labels})
    return {
        name: Spans.of(
            [(label.start, label.end) for label in document.labels if label.category == name]
            for document in material.documents
        )
        for name in names
    }
