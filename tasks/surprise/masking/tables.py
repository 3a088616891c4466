"""The tables that masking writes. ``docs/masking.md`` explains each column."""

import pyarrow as pa

from tasks.records import SPAN

# What a policy selects, as characters of each scored document: what the other two tables are made from.
SELECTED = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("spans", pa.list_(SPAN), nullable=False),  # disjoint, in order
        pa.field("tokens", pa.int32(), nullable=False),  # of the reference model
        pa.field("supervised_tokens", pa.int32(), nullable=False),  # that may be masked
        pa.field("masked_tokens", pa.int32(), nullable=False),
        pa.field("unscored_tokens", pa.int32(), nullable=False),  # supervised, without a finite score
    ]
)

# For training: which tokens of the model to be trained carry no loss.
MASKS = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("group", pa.string()),
        pa.field("token_ids", pa.list_(pa.int32()), nullable=False),  # without BOS and EOS
        pa.field("mask", pa.list_(pa.bool_()), nullable=False),  # true: masked
        pa.field("supervised", pa.list_(pa.bool_()), nullable=False),  # true: may carry loss, masked or not
        pa.field("tokenizer_sha256", pa.string(), nullable=False),
    ]
)

REDACTION = pa.struct(
    [("start", pa.int32()), ("end", pa.int32()), ("replacement", pa.string())]  # of the text as scored
)

# For release: the texts without what was masked.
REDACTED = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("redactions", pa.list_(REDACTION), nullable=False),
        pa.field("masked_characters", pa.int32(), nullable=False),
        pa.field("characters", pa.int32(), nullable=False),
    ]
)
