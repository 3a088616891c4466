"""The schema of every table the factory writes. ``docs/records.md`` explains each column."""

import pyarrow as pa

EMBEDDING = pa.list_(pa.float32())

# The hash of each prompt template; no map, which the `datasets` library cannot read.
PROMPT_SHAS = pa.list_(pa.struct([("prompt", pa.string()), ("sha", pa.string())]))

SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32())])  # half-open, in code points of ``text``

ATTRIBUTE = pa.struct(
    [
        ("key", pa.string()),
        ("value", pa.string()),
        ("source", pa.string()),  # 'profile', 'event' or 'text': where the value was first known
        ("grounded", pa.bool_()),  # the value occurs in the text after folding
        ("spans", pa.list_(SPAN)),
    ]
)

GROUP = pa.struct([("name", pa.string()), ("keys", pa.list_(pa.string()))])

REFINEMENT = pa.struct(
    [
        ("step", pa.int8()),
        ("verdict", pa.string()),  # 'candidate', 'current', 'unparsable' or 'no_candidate'
        ("candidate_shown_first", pa.bool_()),
        ("pool_size", pa.int32()),
        ("vendi_current", pa.float64()),  # of the pool with the current draft
        ("vendi_candidate", pa.float64()),  # of the pool with the candidate
        ("score", pa.float64()),  # S of PV section 2.1.3
        ("accepted", pa.bool_()),
    ]
)

PROFILE = pa.struct(
    [
        ("first_name", pa.string()),
        ("last_name", pa.string()),
        ("sex", pa.string()),
        ("age", pa.int16()),
        ("ethnicity", pa.string()),
        ("citizenship", pa.string()),
        ("income_class", pa.string()),
        ("blood_type", pa.string()),
        ("marital_status", pa.string()),
        ("language", pa.string()),
        ("id_type", pa.string()),
        ("id_number", pa.string()),
        ("passport_number", pa.string()),
        ("phone", pa.string()),
        ("email", pa.string()),
        ("user_handle", pa.string()),
        ("url", pa.string()),
    ]
)

EVENT = pa.struct(
    [
        ("name", pa.string()),
        ("domain", pa.string()),
        ("date", pa.date32()),
        ("attributes", pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))),
    ]
)

TOKENS = pa.struct(
    [("prompt", pa.int64()), ("cached", pa.int64()), ("completion", pa.int64()), ("reasoning", pa.int64())]
)

RECORDS = pa.schema(
    [
        pa.field("record_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),  # position in the run's population
        pa.field("seed", pa.int64(), nullable=False),  # the run's seed
        pa.field("model", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),  # the language the record was asked in
        pa.field("profile", PROFILE, nullable=False),
        pa.field("event", EVENT, nullable=False),
        pa.field("record_type", pa.string()),  # null in the ablation without record type and format
        pa.field("context", pa.string(), nullable=False),
        pa.field("format", pa.string()),  # null in the same ablation
        pa.field("text", pa.string(), nullable=False),
        pa.field("domain", pa.string()),  # one of the eleven of PV Table 1; null where not labelled
        pa.field("subcategory", pa.string()),
        pa.field("attributes", pa.list_(ATTRIBUTE), nullable=False),
        pa.field("groups", pa.list_(GROUP), nullable=False),
        pa.field("refinement", pa.list_(REFINEMENT), nullable=False),
        pa.field("embedding", EMBEDDING, nullable=False),  # unit vector of ``text``
        pa.field("words", pa.int32(), nullable=False),
        pa.field("calls", pa.int32(), nullable=False),  # model calls answered for this record, repairs included
        pa.field("tokens", TOKENS, nullable=False),
        pa.field("cost_usd", pa.float64(), nullable=False),
        pa.field("prompt_shas", PROMPT_SHAS, nullable=False),
    ]
)

# Rows that did not become records. Nothing vanishes: records + rejects = the shard's range.
REJECTS = pa.schema(
    [
        pa.field("record_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("model", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),  # 'filtered' or 'quarantined'
        pa.field("step", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),  # a short name, to count by
        pa.field("detail", pa.string(), nullable=False),  # one sentence for a person
        pa.field("last_reply", pa.string()),
        pa.field("calls", pa.int32(), nullable=False),
        pa.field("tokens", TOKENS, nullable=False),
        pa.field("cost_usd", pa.float64(), nullable=False),
    ]
)

EDIT = pa.struct(
    [
        ("chunk", pa.int32()),  # its place in ``chunks``
        ("named", pa.bool_()),  # by the model; else found by the value alone
        (
            "spans",
            pa.list_(
                pa.struct(
                    [
                        ("start", pa.int32()),  # half-open, in code points of the chunk as this pass found it
                        ("stop", pa.int32()),
                        ("text", pa.string()),
                        ("match", pa.string()),  # 'value', 'exact', 'folded' or 'fuzzy'
                    ]
                )
            ),
        ),
        ("unmatched", pa.list_(pa.string())),  # copied by the model, and nowhere in the chunk
        ("how", pa.string()),  # 'rewritten' whole by the model, or 'replaced' span by span where it could not
        ("after", pa.string()),
    ]
)

TARGET = pa.struct(
    [
        ("name", pa.string()),
        ("is_group", pa.bool_()),
        ("label", pa.string()),  # 'abstract' or 'drop'
        ("weight", pa.float64()),  # sensitivity, 1 to 10
        ("attributes", pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))),
        ("members_named", pa.bool_()),  # in the final request
        # one pass, or two where a value was still there after the first
        ("passes", pa.list_(pa.struct([("instruction", pa.string()), ("edits", pa.list_(EDIT))]))),
    ]
)

# Sanitization (PV section 3.1): one triplet (text, instruction, sanitized) a record. ``docs/triplets.md``.
TRIPLETS = pa.schema(
    [
        pa.field("record_id", pa.string(), nullable=False),  # of the record it was made from
        pa.field("index", pa.int64(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("model", pa.string(), nullable=False),  # that sanitized it, all steps
        pa.field("language", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("instruction", pa.string(), nullable=False),
        pa.field("sanitized", pa.string(), nullable=False),
        pa.field("verified", pa.bool_(), nullable=False),  # no value of a target stands in ``sanitized``
        pa.field("targets", pa.list_(TARGET), nullable=False),
        pa.field(
            "retained",
            pa.list_(pa.struct([("key", pa.string()), ("value", pa.string()), ("overlap", pa.float64())])),
            nullable=False,
        ),
        pa.field(
            "leaks",
            pa.list_(
                pa.struct([("target", pa.int32()), ("key", pa.string()), ("value", pa.string()), ("exact", pa.bool_())])
            ),
            nullable=False,
        ),
        pa.field(
            "chunks",
            pa.list_(pa.struct([("start", pa.int32()), ("stop", pa.int32()), ("sanitized", pa.string())])),
            nullable=False,
        ),
        pa.field("asked_length", pa.string(), nullable=False),  # of the instruction
        pa.field("words", pa.int32(), nullable=False),
        pa.field("instruction_words", pa.int32(), nullable=False),
        pa.field("sanitized_words", pa.int32(), nullable=False),
        pa.field("retries", pa.int32(), nullable=False),  # calls beyond the first of each step
        pa.field("calls", pa.int32(), nullable=False),
        pa.field("tokens", TOKENS, nullable=False),
        pa.field("cost_usd", pa.float64(), nullable=False),
        pa.field("prompt_shas", PROMPT_SHAS, nullable=False),
    ]
)

# Surprise scores of a reference model (SM section 2). ``docs/surprise.md``.
LABEL = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("category", pa.string())])
REGION = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("name", pa.string())])

SCORES = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),  # place in the input
        pa.field("group", pa.string()),  # identity or user within which duplicates propagate
        pa.field("text", pa.string(), nullable=False),  # as scored; of a chat, as its template renders it
        pa.field("supervised", pa.list_(SPAN)),  # where tokens may be masked; null for everywhere
        pa.field("labels", pa.list_(LABEL), nullable=False),
        pa.field("labelled", pa.bool_(), nullable=False),  # somebody looked: no label means nothing private
        pa.field("regions", pa.list_(REGION), nullable=False),
        pa.field("strata", pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())])), nullable=False),
        pa.field("covered", pa.int32(), nullable=False),  # characters that were scored: all, unless the text was cut
        pa.field("token_ids", pa.list_(pa.int32()), nullable=False),  # of the text alone: no BOS, no prompt
        pa.field("token_starts", pa.list_(pa.int32()), nullable=False),  # code points, as the tokenizer reports them
        pa.field("token_ends", pa.list_(pa.int32()), nullable=False),
        # Natural-log NLL of each token under each pass asked for: 'plain', 'prompted', 'violating', 'compliant';
        # NaN where a token has none (the first, without BOS or prompt).
        pa.field(
            "nll", pa.list_(pa.struct([("name", pa.string()), ("values", pa.list_(pa.float32()))])), nullable=False
        ),
        pa.field("model", pa.string(), nullable=False),
        pa.field("tokenizer_sha256", pa.string(), nullable=False),
    ]
)

# Hierarchical evaluation (PV section 4.2): one row a record of one sanitizer, judged by one evaluator.
# ``docs/evaluation.md``.
JUDGED_TARGET = pa.struct(
    [
        ("target", pa.int32()),  # its place in the triplet's ``targets``
        ("key", pa.string()),
        ("value", pa.string()),
        ("short", pa.bool_()),  # of one or two characters: it stands in most texts by chance
        ("outcome", pa.string()),  # 'safe', 'direct', 'inference', 'proximity', 'unjudged' or 'no_output'
        ("guess", pa.string()),  # from the sanitized text alone; null where it was not asked or not usable
        ("original_guess", pa.string()),  # from the original text
        ("closer", pa.string()),  # 'sanitized', 'original' or 'equal': which guess is nearer to the value
        ("second_closer", pa.string()),  # what the second evaluator says of the same two guesses
        ("reason", pa.string()),  # why it is unjudged
    ]
)

JUDGED_RETAINED = pa.struct(
    [
        ("key", pa.string()),
        ("value", pa.string()),
        ("short", pa.bool_()),
        ("outcome", pa.string()),  # 'exact', 'guessed', 'present', 'lost', 'unjudged' or 'no_output'
        ("guess", pa.string()),
        ("reason", pa.string()),
    ]
)

EVALUATIONS = pa.schema(
    [
        pa.field("record_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("sanitizer", pa.string(), nullable=False),
        pa.field("evaluator", pa.string(), nullable=False),
        pa.field("second_evaluator", pa.string()),
        pa.field("language", pa.string(), nullable=False),
        pa.field("domain", pa.string()),
        pa.field("instruction", pa.string(), nullable=False),
        pa.field("sanitized", pa.string()),  # null where the sanitizer gave nothing
        pa.field("failure", pa.string()),  # why it gave nothing
        pa.field("targets", pa.list_(JUDGED_TARGET), nullable=False),
        pa.field("retained", pa.list_(JUDGED_RETAINED), nullable=False),
        pa.field("calls", pa.int32(), nullable=False),
        pa.field("tokens", TOKENS, nullable=False),
        pa.field("cost_usd", pa.float64(), nullable=False),
        pa.field("prompt_shas", PROMPT_SHAS, nullable=False),
    ]
)

# Which triplet is for what; ``docs/evaluation.md``.
SPLITS = pa.schema(
    [
        pa.field("record_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        # 'train', 'validation', 'test' (not evaluated yet), 'vanilla', 'hard' or 'left_out'
        pa.field("split", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),  # a short name, to count by
        pa.field("person", pa.string(), nullable=False),  # hash of the person: nobody is in two of the splits
        pa.field("place", pa.float64(), nullable=False),  # 0 to 1, from that hash: below the test share, it is a test
    ]
)

# A row of a NaP2 file, judged.
NAP2 = pa.schema(
    [
        pa.field("row_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("evaluator", pa.string(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),  # 'safe', 'leak' or 'unjudged'
        pa.field("closer", pa.string()),  # 'sanitized', 'original' or 'equal'
        pa.field("reason", pa.string()),  # why it is unjudged
        pa.field("original", pa.string(), nullable=False),
        pa.field("sanitized", pa.string(), nullable=False),
        pa.field("sensitive", pa.string(), nullable=False),
        pa.field("calls", pa.int32(), nullable=False),
        pa.field("tokens", TOKENS, nullable=False),
        pa.field("cost_usd", pa.float64(), nullable=False),
    ]
)

# Rows of the input that were not scored. Nothing vanishes: scores + score rejects = the shard's rows of the input.
SCORE_REJECTS = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),  # given, or derived from the place
        pa.field("index", pa.int64(), nullable=False),
        pa.field("place", pa.string(), nullable=False),  # file and line or row
        pa.field("reason", pa.string(), nullable=False),  # a short name, to count by
        pa.field("detail", pa.string(), nullable=False),  # one sentence for a person; never text of the row
    ]
)

# Profiles that a web-enabled model was asked about: does a real person fit?
IDENTITY_CHECKS = pa.schema(
    [
        pa.field("record_id", pa.string(), nullable=False),
        pa.field("model", pa.string(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),  # 'matched', 'similar_name', 'no_match' or 'unanswered'
        pa.field("reason", pa.string(), nullable=False),
        pa.field("sources", pa.list_(pa.string()), nullable=False),  # addresses that the answer cites
        pa.field("searches", pa.int32(), nullable=False),
        pa.field("tokens", TOKENS, nullable=False),
        pa.field("cost_usd", pa.float64(), nullable=False),  # of the tokens; searches are billed on top
        pa.field("prompt_sha", pa.string(), nullable=False),
    ]
)

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
