"""What a value is, in words for whoever made the data: they need not know Python's names of types."""

from collections.abc import Mapping


def kind(value: object) -> str:
    """Name the kind of a value of JSON or Parquet, without any of its content."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int():
            return "a whole number"
        case float():
            return "a number that is not whole, or too large"
        case str():
            return "a text"
        case list():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"a value of type {type(value).__name__}"  # of Parquet: dates, decimals, bytes
