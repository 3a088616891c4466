"""The table of private values: what extraction attacks."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from tasks.corpora.bundles.examples import Example
from tasks.corpora.code_pii.identities import PrivateSplit, PrivateValue

VALUES_FILE = "values.parquet"
VALUES = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("value", "kind", "text", "group", "split")),
        pa.field("chats", pa.int64(), nullable=False),  # in how many it stands
        pa.field("documents", pa.int64(), nullable=False),
    ]
)


def value_rows(
    private: Iterable[PrivateValue], split: PrivateSplit, chats: Mapping[str, int], documents: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the rows of ``VALUES``; the mappings say in how many examples a value stands."""
    return [
        {
            "value": value.id,
            "kind": value.kind,
            "text": value.text,
            "group": value.group,
            "split": split,
            "chats": chats[value.id],
            "documents": documents[value.id],
        }
        for value in private
    ]


def occurrences(examples: Iterable[Example]) -> Counter[str]:
    """Count in how many examples each value stands."""
    return Counter(value for example in examples for value in {span.value for span in example.spans if span.value})
