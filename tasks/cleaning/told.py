"""What later parts of a text are told of the earlier ones, so that one thing is called by one name in all of it."""

from collections.abc import Iterable, Iterator, Sequence

import regex

from tasks.cleaning.config import MOST_TOLD, MOST_TOLD_BYTES
from tasks.cleaning.diff import Change, has_word
from tasks.cleaning.prompts import INSTRUCTION
from tasks.synthesis.grounding import Folded, fold

_NAMING = regex.compile(
    r"(?=[\w'’]*[\p{Lu}\p{Nd}])[\w\p{M}'’]{2,}"
)  # with a capital or a digit: part of a name, a date
_LONGEST = 200  # code points; a rewritten paragraph is no replacement of anything


def instruction_for(instruction: str, text: str, earlier: Sequence[Change], codes: Sequence[str]) -> str:
    """Return what is asked for a part: the caller's words alone where there is nothing to add.

    Args:
        instruction: in the caller's words.
        text: the part.
        earlier: what was changed in the parts before it, in order.
        codes: pseudonyms in this part.
    """
    told = relevant(earlier, text)
    if not told and not codes:
        return instruction
    return INSTRUCTION.render(instruction=instruction, codes=codes[:2], told=told)[0].content


def relevant(earlier: Iterable[Change], text: str) -> list[Change]:
    """Return the changes that concern ``text``, in order, the first one of each thing.

    A change concerns it where the words that were changed stand in it, or a part of a name or of a date among them: who
    was "Dr. Amina Karim" is "Karim" later.
    """
    there = Folded(text)
    names = {fold(name)[0] for name in _NAMING.findall(text)}
    chosen: dict[str, Change] = {}
    room = MOST_TOLD_BYTES
    for change in earlier:
        known = fold(change.before)[0].strip()
        if not has_word(known) or known in chosen or max(len(change.before), len(change.after)) > _LONGEST:
            continue
        if there.find(change.before) or any(name in names for name in _names(change.before)):
            room -= len(f"{change.before}{change.after}".encode("utf-8", "surrogatepass"))
            if room < 0 or len(chosen) == MOST_TOLD:
                break
            chosen[known] = change
    return list(chosen.values())


def _names(text: str) -> Iterator[str]:
    return (fold(name)[0] for name in _NAMING.findall(text))
