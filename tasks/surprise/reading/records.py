"""Records that the factory has made itself: their attributes are labels, each record is about one person."""

from collections.abc import Mapping
from typing import Any

COLUMNS = ("record_id", "text", "attributes")  # and the strata


def values(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of ``tasks.records.RECORDS`` as ``columns.RECORDS`` reads it.

    The category of a label is the attribute's key. Attributes that do not stand in the text have no spans.
    """
    labels = [
        {"start": span["start"], "end": span["end"], "category": attribute["key"]}
        for attribute in row["attributes"]
        for span in attribute["spans"]
    ]
    return {name: value for name, value in row.items() if name != "attributes"} | {"labels": labels}
