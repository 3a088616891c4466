"""Writers of strings and numbers within the bounds of their schema."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from infra.engines.simulator.finding import rating
from infra.engines.simulator.naming import kind_of, plausible_number
from infra.engines.simulator.pattern import UnsupportedPattern, pattern_of
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.stock import whole
from infra.engines.simulator.values import KINDS, fit

Schema = Mapping[str, Any]

_FORMATS = {
    "date": "iso_date",
    "date-time": "moment",
    "time": "time",
    "email": "email",
    "uri": "website",
    "uuid": "uuid",
}
_SPAN = 1000  # values on offer where a bound is missing

_Neighbour = Callable[[float], float]


class UnsupportedSchema(ValueError):
    """A JSON schema this server cannot follow; the message says which part."""


def string_writer(schema: Schema, name: str) -> Callable[[Scene], str]:
    """Return a writer of strings: a value known under this name, else a natural one, else what the pattern says."""
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    kind = _FORMATS.get(schema.get("format", ""))
    natural = KINDS[kind or kind_of(name, shortest)]
    try:
        pattern = pattern_of(schema["pattern"]) if "pattern" in schema else None
    except UnsupportedPattern as error:
        raise UnsupportedSchema(f"{name or 'the schema'}: {error}") from error

    def write_free(scene: Scene) -> str:
        known = scene.given.get(name)
        if known is not None and kind is None and shortest <= len(known) <= longest:
            return known
        return fit(natural(scene), shortest, longest, scene)

    if pattern is None:
        return write_free
    sources = (write_free, natural, natural, KINDS["iso_date"])

    def write(scene: Scene) -> str:
        for source in sources:
            value = fit(source(scene), shortest, longest, scene)
            if pattern.matches(value):
                return value
        try:
            return pattern.write(scene.rng, shortest, longest)
        except UnsupportedPattern as error:
            raise UnsupportedSchema(f"{name or 'the schema'}: {error}") from error

    return write


def number_writer(schema: Schema, name: str) -> Callable[[Scene], float]:
    """Return a writer of numbers, whole or not, plausible for their name where the bounds allow it."""
    low, high = _bounds(schema, lambda x: math.nextafter(x, math.inf), lambda x: math.nextafter(x, -math.inf))
    if low > high:
        raise UnsupportedSchema(f"{name or 'the schema'}: no number is from {low} to {high}")
    bottom, top = _closed(low, high)

    def write(scene: Scene) -> float:
        value = plausible_number(name, scene.rng)
        return value if low <= value <= high else min(bottom + scene.rng.random() * (top - bottom), top)

    return write


def integer_writer(schema: Schema, name: str) -> Callable[[Scene], int]:
    """Return a writer of whole numbers, multiples of ``multipleOf``."""
    step = schema.get("multipleOf", 1)
    if step < 1 or step != int(step):
        raise UnsupportedSchema(f"{name or 'the schema'}: multipleOf {step} is not supported, only whole numbers are")
    step = int(step)
    bottom, top = _closed(*_bounds(schema, lambda x: math.floor(x) + 1, lambda x: math.ceil(x) - 1))
    low, high = math.ceil(bottom / step), math.floor(top / step)
    if low > high:
        raise UnsupportedSchema(f"{name or 'the schema'}: no multiple of {step} is from {bottom} to {top}")

    def write(scene: Scene) -> int:
        if name in scene.brief.asked:
            return step * rating(scene, name, low, high)
        value = int(plausible_number(name, scene.rng)) // step
        return step * (value if low <= value <= high else whole(scene.rng, low, high))

    return write


def _bounds(schema: Schema, after: _Neighbour, before: _Neighbour) -> tuple[float, float]:
    """Return the smallest and the largest number allowed, infinite where there is no bound."""
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if "exclusiveMinimum" in schema:
        low = max(low, after(schema["exclusiveMinimum"]))
    if "exclusiveMaximum" in schema:
        high = min(high, before(schema["exclusiveMaximum"]))
    return low, high


def _closed(low: float, high: float) -> tuple[float, float]:
    """Close an open range, near its other end or near zero."""
    if low == -math.inf:
        low = min(0, high - _SPAN)
    return low, low + _SPAN if high == math.inf else high
