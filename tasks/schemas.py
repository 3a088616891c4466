"""The one shape of JSON object that the factory asks models for."""

from typing import Any

from infra.llm.types import JsonSchema


def json_object(**properties: JsonSchema) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def json_array(items: JsonSchema, fewest: int, most: int) -> dict[str, Any]:
    """Return the schema of an array of ``fewest`` to ``most`` ``items``."""
    return {"type": "array", "items": items, "minItems": fewest, "maxItems": most}
