"""The tables that routing writes. ``docs/masking.md`` explains each column."""

import pyarrow as pa

from tasks.records import PROMPT_SHAS, TOKENS

SENTENCE = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("rank", pa.int64())])  # rank 0: never sent

# Every sentence with its place in the corpus: a budget sends the first so many.
RANKS = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("sentences", pa.list_(SENTENCE), nullable=False),  # they tile the text
        pa.field("source_tokens", pa.int32(), nullable=False),  # of the reference model
    ]
)

# One row a document and an intervention.
ROUTED = pa.schema(
    [
        pa.field("row_id", pa.string(), nullable=False),  # document and intervention
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("intervention", pa.string(), nullable=False),  # 'unmodified', 'document', or such as 'surprise 20%'
        pa.field("text", pa.string(), nullable=False),
        pa.field("source_tokens", pa.int32(), nullable=False),
        pa.field("sent", pa.int32(), nullable=False),  # sentences, or 1 document, that went to the model
        pa.field("failed", pa.int32(), nullable=False),  # of them, without a usable reply: redacted whole
        pa.field("private_values", pa.int32(), nullable=False),  # different values of labelled spans
        pa.field("values_gone", pa.int32(), nullable=False),
        pa.field("bleu", pa.float64(), nullable=False),  # of the source
        pa.field("facts", pa.int32()),  # the judge's; null without one, or where it gave no usable reply
        pa.field("facts_kept", pa.int32()),
        pa.field("model", pa.string(), nullable=False),
        pa.field("calls", pa.int32(), nullable=False),  # of the rewriter
        pa.field("tokens", TOKENS, nullable=False),
        pa.field("cost_usd", pa.float64(), nullable=False),
        pa.field("prompt_shas", PROMPT_SHAS, nullable=False),
    ]
)
