"""Free text that looks like somebody's papers: letters, forms, chat logs and notes of 150 to 400 words."""

from collections.abc import Callable, Iterator

from infra.engines.simulator.english import CHAT_TURNS, CLOSINGS, GENERAL, GROUNDED, SALUTATIONS, TOPICS
from infra.engines.simulator.languages import Language
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.stock import pick, whole
from infra.engines.simulator.values import KINDS, Slots

_SHORTEST, _LONGEST = 205, 350  # words aimed at; sentences vary, hence the distance to 150 and 400
_WORDS_A_HEADING, _WORDS_A_SENTENCE = 40, 18
_GENERAL_SENTENCES = 10
_WOVEN = 8  # facts of the prompt in one text at most
_TELLABLE = 60  # characters of a fact that still fits into a sentence

_TOPICS = tuple(TOPICS.values())


def write_text(scene: Scene) -> str:
    """Write a document in the scene's language, with values of the prompt in it."""
    if scene.language:
        return _foreign_letter(scene, scene.language)
    return pick(scene.rng, _LAYOUTS)(scene)


def _facts(scene: Scene) -> list[tuple[str, str]]:
    """Choose facts of the prompt that fit into a sentence."""
    facts = [(key.replace("_", " "), value) for key, value in scene.brief.facts.items() if len(value) <= _TELLABLE]
    return scene.rng.sample(facts, min(_WOVEN, len(facts)))


def _sentences(scene: Scene) -> Iterator[list[str]]:
    """Write paragraphs about two topics, no sentence twice, facts of the prompt among them."""
    rng, slots = scene.rng, Slots(scene)
    words = min(max(scene.brief.words or whole(rng, _SHORTEST, _LONGEST), _SHORTEST), _LONGEST)
    facts = [pick(rng, GROUNDED).format(key=key, value=value) for key, value in _facts(scene)]
    count = (words - _WORDS_A_HEADING) // _WORDS_A_SENTENCE - len(facts) // 2
    one, another = rng.sample(_TOPICS, 2)
    stock = (*one, *another, *rng.sample(GENERAL, _GENERAL_SENTENCES))
    told = [sentence.format_map(slots) for sentence in rng.sample(stock, count)] + facts
    rng.shuffle(told)
    while told:
        size = whole(rng, 3, 6)
        paragraph, told = told[:size], told[size:]
        yield paragraph


def _letter(scene: Scene) -> str:
    rng, slots = scene.rng, Slots(scene)
    heading = f"{scene.name()}\n{slots['address']}\n{slots['email']}\n\n{slots['place']}, {slots['date']}"
    subject = f"Subject: {slots['thing'].capitalize()}, {slots['number']}"
    salutation = pick(rng, SALUTATIONS).format_map(slots)
    paragraphs = [" ".join(paragraph) for paragraph in _sentences(scene)]
    return "\n\n".join([heading, subject, salutation, *paragraphs, f"{pick(rng, CLOSINGS)}\n{scene.name()}"])


def _note(scene: Scene) -> str:
    slots = Slots(scene)
    first, *rest = _sentences(scene)
    body = ["\n".join(f"- {sentence}" for sentence in first), *map(" ".join, rest)]
    return "\n\n".join([f"{slots['thing'].capitalize()}\n{slots['date']}, {slots['clock']}, {scene.name()}", *body])


def _form(scene: Scene) -> str:
    slots = Slots(scene)
    facts = [f"{key.capitalize()}: {value}" for key, value in _facts(scene)]
    fields = [
        f"Reference: {slots['number']}",
        f"Received: {slots['date']}",
        f"Submitted by: {scene.name()}",
        f"Contact: {slots['phone']}, {slots['email']}",
        f"Handled by: {slots['person']}, {slots['company']}",
        f"Amount in question: {slots['amount']}",
    ]
    parts = [" ".join(paragraph) for paragraph in _sentences(scene)]
    numbered = [f"{number}. {part}" for number, part in enumerate(parts, 1)]
    return "\n\n".join([f"{slots['company']}\n{slots['thing'].title()}", "\n".join(fields + facts), *numbered])


def _chat(scene: Scene) -> str:
    rng = scene.rng
    speakers = (scene.name().split()[0], scene.someone().split()[0])
    minute, lines = whole(rng, 7 * 60, 20 * 60), list[str]()
    for paragraph in _sentences(scene):
        for sentence in paragraph:
            said = f"{pick(rng, CHAT_TURNS)} {sentence}" if rng.random() < 0.3 else sentence
            lines.append(f"{minute // 60}:{minute % 60:02d} {speakers[len(lines) % 2]}: {said}")
            minute += whole(rng, 0, 3)
    return "\n".join([f"{KINDS['date'](scene)}, {' and '.join(speakers)}", *lines])


_LAYOUTS: tuple[Callable[[Scene], str], ...] = (_letter, _letter, _note, _form, _chat)


def _foreign_letter(scene: Scene, language: Language) -> str:
    """Write a letter from the small stock of one language: most of its sentences, in a drawn order."""
    rng, slots = scene.rng, Slots(scene)
    count = whole(rng, len(language.sentences) * 3 // 4, len(language.sentences))
    told = [sentence.format_map(slots) for sentence in rng.sample(language.sentences, count)]
    told += [language.grounded.format(key=key, value=value) for key, value in _facts(scene)[: _WOVEN // 2]]
    rng.shuffle(told)
    paragraphs = [language.between.join(told[start : start + 5]) for start in range(0, len(told), 5)]
    heading = f"{slots['place']}, {slots['date']}"
    closing = language.closing.format(person=scene.name())
    return "\n\n".join([heading, language.greeting.format_map(slots), *paragraphs, closing])
