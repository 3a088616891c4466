"""Writes a value for any JSON schema made of the keywords below; a schema with another constraint is refused.

A schema is compiled once to nested closures, so that an answer costs no interpretation of the schema.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import orjson

from infra.engines.simulator.finding import parts_telling, words_telling
from infra.engines.simulator.grounding import facts_in_text, title_of
from infra.engines.simulator.prompt import normal
from infra.engines.simulator.scalars import Schema, UnsupportedSchema, integer_writer, number_writer, string_writer
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.stock import pick, thing, whole
from infra.engines.simulator.values import sentence

Walker = Callable[[Scene], Any]

_UNSUPPORTED = frozenset(
    {
        *("not", "if", "then", "else", "patternProperties", "propertyNames", "contains", "maxProperties"),
        *("dependentRequired", "dependentSchemas", "dependencies", "unevaluatedItems", "$dynamicRef"),
    }
)
_DEEP = 1  # references followed before a recursive schema is brought to an end
_USUAL = 6  # items of a list beyond the least, at most; facts of a text are listed up to the upper bound
_TRIES = 40
_TELLING: dict[str, Callable[[Scene], list[Any]]] = {"parts": parts_telling, "spans": words_telling}


def walker_of(schema: Schema) -> Walker:
    """Return a writer of values that are valid under ``schema``.

    Raises:
        UnsupportedSchema: now, or when the writer finds no value (a list of five different items out of three).
    """
    return _compiled(orjson.dumps(schema))


@lru_cache(maxsize=512)
def _compiled(canonical: bytes) -> Walker:
    schema = orjson.loads(canonical)
    return _Compiler(schema).compile(schema, "")


class _Compiler:
    """Turns the nodes of one schema into walkers."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._references: dict[str, Walker] = {}

    def compile(self, schema: Schema | bool, name: str) -> Walker:
        """Compile one node; ``name`` is that of the property or list it stands in."""
        if schema is True:
            return sentence
        if schema is False:
            raise UnsupportedSchema(f"{name or 'the schema'}: no value is valid under `false`")
        if unsupported := _UNSUPPORTED & schema.keys():
            raise UnsupportedSchema(f"{name or 'the schema'}: keyword {sorted(unsupported)[0]} is not supported")
        if "const" in schema:
            return lambda scene: schema["const"]
        if "enum" in schema:
            return lambda scene: pick(scene.rng, schema["enum"])
        if "allOf" in schema:
            return self.compile(_merged(_without(schema, "allOf"), *map(self._resolved, schema["allOf"])), name)
        if "$ref" in schema:
            return self._reference(schema, name)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                rest = _without(schema, keyword)
                return self._alternatives([_merged(rest, option) for option in schema[keyword]], name)
        if isinstance(schema.get("type"), list):
            return self._alternatives([{**schema, "type": each} for each in schema["type"]], name)
        return self._of_type(_type_of(schema), schema, name)

    def _of_type(self, kind: str, schema: Schema, name: str) -> Walker:
        match kind:
            case "object":
                return self._object(schema, name)
            case "array":
                return self._array(schema, name)
            case "string":
                return string_writer(schema, normal(name))
            case "number" if "multipleOf" not in schema:
                return number_writer(schema, normal(name))
            case "integer" | "number":
                return integer_writer(schema, normal(name))
            case "boolean":
                return lambda scene: scene.rng.random() < 0.5
            case "null":
                return lambda scene: None
        raise UnsupportedSchema(f"{name or 'the schema'}: type {kind!r} is not one of JSON's")

    def _resolved(self, schema: Schema) -> Schema:
        if "$ref" not in schema:
            return schema
        node: Any = self._root
        for step in schema["$ref"].removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, dict) or key not in node:
                raise UnsupportedSchema(
                    f"$ref {schema['$ref']!r} leads nowhere; only references within the schema work"
                )
            node = node[key]
        return _merged(self._resolved(node), _without(schema, "$ref"))

    def _reference(self, schema: Schema, name: str) -> Walker:
        """Compile what a reference points to when it is first walked, because it may point to itself."""
        target = self._resolved(schema)
        key = f"{name} {orjson.dumps(schema).decode()}"

        def walk(scene: Scene) -> Any:  # noqa: ANN401 - whatever the schema describes
            if key not in self._references:
                self._references[key] = self.compile(target, name)
            scene.depth += 1
            value = self._references[key](scene)
            scene.depth -= 1
            return value

        return walk

    def _alternatives(self, schemas: Sequence[Schema], name: str) -> Walker:
        may_be_null = any(schema.get("type") == "null" for schema in schemas)
        others = [schema for schema in schemas if schema.get("type") != "null"]
        walkers = [self.compile(schema, name) for schema in others]
        flat = [walker for walker, schema in zip(walkers, others, strict=True) if "$ref" not in schema]

        def walk(scene: Scene) -> Any:  # noqa: ANN401 - whatever the schema describes
            is_deep = scene.depth > _DEEP
            if may_be_null and (is_deep or not walkers or scene.rng.random() < 0.15):
                return None
            return pick(scene.rng, flat if is_deep and flat else walkers)(scene)

        return walk

    def _object(self, schema: Schema, name: str) -> Walker:
        properties = schema.get("properties", {})
        required = set(schema.get("required", ()))
        least = schema.get("minProperties", 0)
        if not properties and not required:
            return self._map(schema, least, name)
        if missing := required - properties.keys():
            properties = {**properties, **dict.fromkeys(sorted(missing), schema.get("additionalProperties", True))}
        if least > len(properties):
            raise UnsupportedSchema(f"{name or 'the schema'}: minProperties {least} is more than it names")
        all_needed = least > len(required)
        fields = [
            (key, self.compile(each, key), all_needed or key in required)
            for key, each in properties.items()
            if each is not False
        ]

        def walk(scene: Scene) -> dict[str, Any]:
            return {
                key: walker(scene)
                for key, walker, is_needed in fields
                if is_needed or (scene.depth <= _DEEP and scene.rng.random() < 0.75)
            }

        return _titled(walk) if properties.keys() == {"name", "keys"} else walk

    def _map(self, schema: Schema, least: int, name: str) -> Walker:
        """Compile an object whose keys are free."""
        extra = schema.get("additionalProperties", True)
        if extra is False:
            return lambda scene: {}
        value = self.compile(extra, name)

        def walk(scene: Scene) -> dict[str, Any]:
            count = whole(scene.rng, max(least, 1), max(least, 1) + _USUAL)
            outer, written = scene.given, {}
            for key, phrase in facts_in_text(scene, count, count):
                scene.given = {normal(name): phrase}
                written[key] = value(scene)
            scene.given = {}
            while len(written) < count:
                written[normal(f"{thing(scene.rng)} {len(written)}")] = value(scene)
            scene.given = outer
            return written

        return walk

    def _array(self, schema: Schema, name: str) -> Walker:
        first = [self.compile(each, name) for each in schema.get("prefixItems", ())]
        items = schema.get("items", True)
        least = max(schema.get("minItems", 0) - len(first), 0)
        most = max(schema["maxItems"] - len(first), 0) if "maxItems" in schema else max(least, 1) + _USUAL
        if items is False:
            least, most, items = 0, 0, True
        shape = {} if items is True else self._resolved(items)
        has_pairs = {"key", "value"} <= shape.get("properties", {}).keys()
        is_unique = schema.get("uniqueItems", False)
        if is_unique and "enum" in shape:
            most = min(most, max(least, len(shape["enum"])))
        item = self.compile(items, name)
        telling = _TELLING.get(name)

        def walk(scene: Scene) -> list[Any]:
            values = [walker(scene) for walker in first]
            if telling and scene.brief.texts and scene.brief.asked:
                return values + telling(scene)[:most]
            if has_pairs and scene.brief.quoted:
                return values + _pairs(scene, item, least, most)
            usual = min(max(least, 1) + _USUAL, most)
            count = least if scene.depth > _DEEP else whole(scene.rng, min(max(least, 1), most), usual)
            return values + _different(scene, item, count, is_unique=is_unique, name=name)

        return walk


def _titled(walk: Walker) -> Walker:
    """Let the name of a group say what its keys have in common."""

    def titled(scene: Scene) -> dict[str, Any]:
        group = walk(scene)
        return {"name": title_of(group["keys"]), "keys": group["keys"]}

    return titled


def _pairs(scene: Scene, item: Walker, least: int, most: int) -> list[Any]:
    """Write objects of ``key`` and ``value`` about the quoted text."""
    outer, written = scene.given, []
    for key, phrase in facts_in_text(scene, least, whole(scene.rng, max(least, (most + 1) // 2), most)):
        scene.given = {"key": key, "value": phrase}
        value = item(scene)
        if value.get("value") == phrase:  # else the schema forbids the phrase, as too long for instance
            written.append(value)
    scene.given = {}
    written += [item(scene) for _ in range(least - len(written))]
    scene.given = outer
    return written


def _different(scene: Scene, item: Walker, count: int, *, is_unique: bool, name: str) -> list[Any]:
    """Write ``count`` items, all different where that is possible, each about somebody else."""
    outer = scene.given, scene.first, scene.last
    scene.given = {}
    written: dict[bytes, Any] = {}
    tries = 0
    while len(written) < count and tries < count + _TRIES * (1 + is_unique * count):
        value = item(scene)
        written.setdefault(orjson.dumps(value), value)
        scene.meet_another()
        tries += 1
    if len(written) < count and is_unique:
        raise UnsupportedSchema(f"{name or 'the list'}: found only {len(written)} of {count} different items")
    values = list(written.values()) + [item(scene) for _ in range(count - len(written))]
    scene.given, scene.first, scene.last = outer
    return values


def _type_of(schema: Schema) -> str:
    """Infer the type a schema leaves out."""
    if "type" in schema:
        return str(schema["type"])
    if schema.keys() & {"properties", "additionalProperties", "required", "minProperties"}:
        return "object"
    if schema.keys() & {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}:
        return "array"
    if schema.keys() & {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}:
        return "number"
    return "string"


def _without(schema: Schema, keyword: str) -> Schema:
    return {key: value for key, value in schema.items() if key != keyword}


def _merged(*schemas: Schema) -> Schema:
    """Join schemas that all hold: properties and required ones add up, of other keywords the last counts."""
    merged: dict[str, Any] = {}
    for schema in schemas:
        properties = {**merged.get("properties", {}), **schema.get("properties", {})}
        required = [*merged.get("required", ()), *schema.get("required", ())]
        merged |= schema
        merged |= {"properties": properties} if properties else {}
        merged |= {"required": required} if required else {}
    return merged
