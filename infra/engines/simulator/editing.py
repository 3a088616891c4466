"""Answers to who has a text cleaned: what to write instead, the text after it, and the request for it all."""

import re
from collections.abc import Callable, Iterator

from infra.engines.simulator.finding import kind_of_phrase, pattern_of
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.stock import pick

GENERAL = {  # kind of phrase -> what may stand in its place
    "address": ("a street address", "an address in town"),
    "amount": ("a sum of money", "a certain amount"),
    "date": ("some day", "a certain day", "a day of that time"),
    "detail": ("something", "a certain thing"),
    "email": ("an e-mail address", "an address to write to"),
    "name": ("a certain party", "one of those involved"),
    "number": ("some number", "a certain number"),
    "phone": ("a telephone number", "a number to call"),
    "reference": ("a reference number", "a file number"),
    "time": ("some hour", "a certain hour"),
}


def instruction(scene: Scene) -> str:
    """Write what to do with a text that is quoted, or else the request for what is listed; "" where neither is."""
    if not scene.brief.listed:
        return ""
    return _general_words(scene) if scene.brief.texts else _request(scene)


def _general_words(scene: Scene) -> str:
    """Give general words for each kind of phrase listed, in quotation marks."""
    kinds = sorted({kind_of_phrase(phrase) for phrase in scene.brief.listed})
    given = _enumerated([f'"{pick(scene.rng, GENERAL[kind])}" for each {kind}' for kind in kinds])
    return f"Wherever this stands, write {given}."


# --- the text after it ---

_GONE, _GONE_AT_START, _WHO = "\ue000", "\ue001", "\ue002"  # stand for a phrase until its surroundings are mended
_SMALL_WORDS = r"(?:\b(?:at|by|for|from|in|of|on|to|under|with|the|a|an) )*"
_MENDED: tuple[tuple["re.Pattern[str]", str | Callable[["re.Match[str]"], str]], ...] = (
    (re.compile(rf"(\A|\n|[.!?] ){_WHO}(?= [a-z])"), r"\1Somebody"),
    (re.compile(rf"{_WHO}(?= [a-z])"), "somebody"),
    (re.compile(_WHO), _GONE),
    (re.compile(rf"{_GONE_AT_START} ?(\w)"), lambda match: match[1].upper()),
    (re.compile(_GONE_AT_START), _GONE),
    (re.compile(rf"(?<=[:(]) ?{_GONE},"), ""),  # the first of a list
    (re.compile(rf",? ?{_GONE}(?=[,.;:!?)])"), ""),
    (re.compile(rf"(?<= ){_GONE} |(?<=\n){_GONE} |^{_GONE} "), ""),
    (re.compile(_GONE), ""),
)
_SENTENCE_START = re.compile(r"(?:\A|\n|[.!?] |- )\Z")


def edited(scene: Scene) -> str:
    """Write the quoted text with the listed phrases put in the general words that are said, or else left out."""
    text, said = scene.brief.quoted, scene.brief.said
    if not scene.brief.listed:
        return text
    wanted = pattern_of(scene.brief.listed)
    if said:
        return re.sub(wanted, lambda match: _instead(match, said), text, flags=re.IGNORECASE)
    left = re.sub(f"({_SMALL_WORDS})({wanted})", _marked, text, flags=re.IGNORECASE)
    for place, mending in _MENDED:
        left = place.sub(mending, left)
    return left if left.strip() else "(left out)"


def _instead(match: "re.Match[str]", said: tuple[str, ...]) -> str:
    """Choose of what is said the words for this kind of phrase."""
    fitting = GENERAL[kind_of_phrase(match[0])]
    words = next((words for words in said if words in fitting), said[0])
    starts_sentence = _SENTENCE_START.search(match.string, max(0, match.start() - 2), match.start())
    return words[0].upper() + words[1:] if starts_sentence else words


def _marked(match: "re.Match[str]") -> str:
    if match[1][:1].isupper():
        return _GONE_AT_START
    if match[1] or kind_of_phrase(match[2]) != "name":
        return _GONE
    return _WHO


# --- the request ---

_TO_DO = re.compile(r"(?P<do>[^:]+): (?P<what>[^(.]+?)(?: \([^:)]*: (?P<members>[^)]*)\))?(?:\. .*)?$")
_OPENINGS = (
    "I would like to pass this on, but not as it is.",
    "This has to go to somebody who knows none of the people in it.",
    "Before I hand in the text below, it needs some cleaning.",
    "Could you go over this paper for me before anybody else reads it?",
)
_CLOSINGS = (
    "Everything else should read as it did before, in the same order and tone.",
    "If a sentence makes no sense after that, mend it with as few words as you can.",
    "Nobody should be able to guess what stood there, not even from what is around it.",
    "Please check headings, signatures and short forms as well, for these are easily forgotten.",
    "Do not add remarks of your own, and do not shorten what I have not spoken of.",
    "I will read it once more myself, so there is no need to explain what was changed.",
)


def _request(scene: Scene) -> str:
    """Ask for what is listed, as one person would, in about the length asked for."""
    words = scene.brief.words or 0
    order = " ".join(_orders(scene))
    parts = [order] if len(order.split()) > words else [pick(scene.rng, _OPENINGS), order]
    for closing in scene.rng.sample(_CLOSINGS, len(_CLOSINGS)):
        if sum(len(part.split()) for part in (*parts, closing)) > words:
            break
        parts.append(closing)
    return " ".join(parts)


def _orders(scene: Scene) -> Iterator[str]:
    """Write one sentence for each thing to do, about all that it is to be done with."""
    told: dict[str, list[str]] = {}
    for item in scene.brief.listed:
        if match := _TO_DO.match(item):
            members = f", I mean {_enumerated(match['members'].split(', '))}," if match["members"] else ""
            told.setdefault(match["do"], []).append(f"the {match['what']}{members}")
    for do, things in told.items():
        yield f"Please {do[0].lower()}{do[1:]} {_enumerated(things)}.".replace(",.", ".").replace(",,", ",")


def _enumerated(items: list[str]) -> str:
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last
