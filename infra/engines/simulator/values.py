"""Natural values for the places of a sentence and the properties of an object, chosen by name."""

from collections.abc import Callable

from infra.engines.simulator import stock
from infra.engines.simulator.editing import edited, instruction
from infra.engines.simulator.english import GENERAL, TOPICS
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.stock import pick, whole

Kind = Callable[[Scene], str]

_ENGLISH = (*GENERAL, *(sentence for topic in TOPICS.values() for sentence in topic))
_WRITERS = ("letter", "e-mail", "form", "statement", "note", "chat log", "report", "certificate", "transcript", "file")
_PARTS = ("A heading with date and place", "Numbered sections", "Form fields above one paragraph", "A short table",
          "Chat lines with times", "Three paragraphs and a list", "A subject line and two paragraphs")  # fmt: skip
_ORDERS = ("the facts first and the request last", "in the order of events", "the most urgent point first",
           "each part under a heading of its own", "with names, dates and amounts in the margin")  # fmt: skip
_TONES = ("formal and exact", "hurried and personal", "dry, as an office writes", "warm but to the point",
          "careful, with hedged statements", "blunt")  # fmt: skip


class Slots:
    """The mapping that ``str.format_map`` reads: a fresh value for each place of a sentence."""

    __slots__ = ("_scene",)

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def __getitem__(self, slot: str) -> str:
        """Draw a value of the kind the place is named after."""
        return KINDS[slot](self._scene)


def sentence(scene: Scene) -> str:
    """Draw a sentence in the answer's language."""
    sentences = scene.language.sentences if scene.language else _ENGLISH
    return pick(scene.rng, sentences).format_map(Slots(scene))


def text(scene: Scene) -> str:
    """Draw two or three sentences."""
    between = scene.language.between if scene.language else " "
    return between.join(sentence(scene) for _ in range(whole(scene.rng, 2, 3)))


def _plain(draw: stock.Draw) -> Kind:
    """Make a kind of a draw that is the same in every language and for every person."""
    return lambda scene: draw(scene.rng)


def _place(scene: Scene) -> str:
    return pick(scene.rng, scene.language.places) if scene.language else stock.place(scene.rng)


def _date(scene: Scene) -> str:
    return scene.language.written_date(stock.day(scene.rng)) if scene.language else stock.written_date(scene.rng)


def _amount(scene: Scene) -> str:
    if scene.language is None:
        return stock.amount(scene.rng)
    return scene.language.amount.format(digits=stock.digits(scene.rng, whole(scene.rng, 4, 6)))


def _document(scene: Scene) -> str:
    return f"{pick(scene.rng, _WRITERS)} about the {stock.thing(scene.rng)}, written by {scene.someone()}"


def _format(scene: Scene) -> str:
    return f"{pick(scene.rng, _PARTS)}, {pick(scene.rng, _ORDERS)}; {pick(scene.rng, _TONES)}."


def _key(scene: Scene) -> str:
    """Name one of the facts the prompt lists."""
    return pick(scene.rng, list(scene.brief.facts)) if scene.brief.facts else stock.thing(scene.rng)


def _website(scene: Scene) -> str:
    return f"https://{stock.place(scene.rng).lower()}.test/{stock.handle(scene.name(), '-')}"


def _uuid(scene: Scene) -> str:
    hexadecimal = f"{scene.rng.getrandbits(128):032x}"
    return f"{hexadecimal[:8]}-{hexadecimal[8:12]}-4{hexadecimal[13:16]}-8{hexadecimal[17:20]}-{hexadecimal[20:]}"


KINDS: dict[str, Kind] = {
    "address": _plain(stock.address),
    "age": lambda scene: str(whole(scene.rng, 19, 85)),
    "amount": _amount,
    "clock": _plain(stock.clock),
    "company": _plain(stock.company),
    "count": lambda scene: str(whole(scene.rng, 2, 90)),
    "country": lambda scene: pick(scene.rng, stock.COUNTRIES),
    "date": _date,
    "document": _document,
    "edited": edited,
    "email": lambda scene: stock.email(scene.rng, scene.name()),
    "first_name": lambda scene: scene.first,
    "format": _format,
    "handle": lambda scene: f"{stock.handle(scene.name(), '_')}{whole(scene.rng, 1, 99)}",
    "instruction": lambda scene: instruction(scene) or text(scene),
    "iso_date": _plain(stock.iso_date),
    "job": lambda scene: pick(scene.rng, stock.JOBS),
    "key": _key,
    "language": lambda scene: pick(scene.rng, stock.LANGUAGES),
    "last_name": lambda scene: scene.last,
    "moment": lambda scene: f"{stock.iso_date(scene.rng)}T{whole(scene.rng, 10, 23)}:{whole(scene.rng, 10, 59)}:00Z",
    "month": lambda scene: pick(scene.rng, stock.MONTHS),
    "name": Scene.name,
    "number": _plain(stock.number),
    "person": Scene.someone,
    "phone": _plain(stock.phone),
    "place": _place,
    "pressure": lambda scene: f"{whole(scene.rng, 105, 170)}/{whole(scene.rng, 62, 104)}",
    "street": _plain(stock.street),
    "their_email": lambda scene: stock.email(scene.rng, scene.someone()),
    "text": text,
    "thing": _plain(stock.thing),
    "time": lambda scene: f"{whole(scene.rng, 10, 23)}:{whole(scene.rng, 10, 59)}:00Z",
    "uuid": _uuid,
    "website": _website,
}


def fit(value: str, shortest: int, longest: float, scene: Scene) -> str:
    """Lengthen a value by sentences, or cut it, at a space where one is near, to the asked number of characters."""
    while len(value) < shortest:
        value = f"{value} {sentence(scene)}"
    if len(value) <= longest:
        return value
    limit = int(longest)
    at_space = value[: limit + 1].rpartition(" ")[0].rstrip(" ,;:-")
    return at_space if len(at_space) >= max(shortest, limit // 2, 1) else value[:limit]
