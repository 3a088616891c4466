"""Parameters that only the deployments of Surprise Masking have."""

from typing import Annotated, Literal

from pydantic import Field

from flows.deployed.parameters import Says

Inputs = Annotated[
    list[str],
    Field(min_length=1),
    Says(
        "On the worker: Parquet, JSONL, other files (each a text), folders of these, patterns, or a data set. Or"
        " s3://BUCKET/PREFIX: a data set, or Parquet files."
    ),
]
ScoresName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$"), Says("Name of the data set of scores.")]
ReferenceModel = Annotated[
    str,
    Field(min_length=1),
    Says(
        "Whose surprise counts: smollm2-135m, qwen2.5-coder-0.5b, qwen2.5-coder-1.5b, a folder, a hub name, or the URL"
        " of a vLLM server."
    ),
]
Format = Annotated[Literal["auto", "parquet", "jsonl", "text"], Says("auto goes by the suffix.")]
Suffixes = Annotated[list[str], Says("In folders, only texts whose names end so, such as .py. Empty: all.")]
TextColumn = Annotated[str, Field(min_length=1), Says("Column of the texts.")]
MessagesColumn = Annotated[str, Says("Column of chats, in place of texts. Empty: texts.")]
IdColumn = Annotated[str, Says("Column of ids. Empty: file and row.")]
GroupColumn = Annotated[str, Says("Column of the identity or user within which masks propagate. Empty: none.")]
LabelsColumn = Annotated[str, Says("Column of private spans: list of start, end, category. Empty: none.")]
Strata = Annotated[list[str], Says("Columns to break results down by.")]
Prompt = Annotated[str, Says("Score the texts also after this prompt. Empty: no.")]
Violating = Annotated[str, Says("For contrast: the prompt that asks for private text. Empty: no contrast.")]
Compliant = Annotated[str, Says("For contrast: the prompt that forbids it. Empty: no contrast.")]
Plain = Annotated[bool, Says("Score the texts alone as well.")]
Context = Annotated[
    int | None, Field(ge=2, le=1_000_000), Says("Most tokens read at once. None: 4096, or the model's.")
]
Stride = Annotated[int | None, Field(ge=1, le=1_000_000), Says("Tokens each further window scores. None: half of it.")]
Processes = Annotated[int, Field(ge=1, le=10_000), Says("Shards at once: processes, each with the model.")]
ShardSize = Annotated[int, Field(ge=1, le=100_000), Says("Rows a shard.")]
PolicyFile = Annotated[str, Field(min_length=1), Says("Policy that surprise-calibrate wrote: a file on the worker.")]
TrainedTokenizer = Annotated[
    str, Says("tokenizer.json, or the folder, of the model to be trained: writes token masks. Empty: see redact.")
]
Redact = Annotated[
    Literal["no", "replace", "remove"],
    Says("Write texts for release, with masked spans replaced or removed, in place of token masks."),
]
Rewriter = Annotated[str, Field(min_length=1), Says("Model that rewrites, KIND:NAME, such as openai:gpt-4.1-mini.")]
Judge = Annotated[str, Says("Model that says which facts are left, KIND:NAME. Empty: utility is BLEU alone.")]
Selection = Annotated[
    str, Field(min_length=1), Says("surprise, prompted, contrast, random, opf:MODEL, or a method of the evaluation.")
]
Shares = Annotated[str, Field(min_length=1), Says("Shares of the sentences to send, apart by commas.")]
Whole = Annotated[bool, Says("Rewrite whole documents beside it.")]
Private = Annotated[str, Says("What must not be told. Empty: the usual list of identifiers.")]
SelectorUsd = Annotated[float, Field(ge=0, le=1e6), Says("What scoring a million source tokens costs you, in USD.")]
Documents = Annotated[int, Field(ge=1, le=4096), Says("Documents of a shard worked on at once.")]
PolicyOutput = Annotated[str, Field(pattern=r"\.json$"), Says("Where the policy goes; its figures beside it.")]
Labels = Annotated[str, Says("Labels in place of the scores' own: .jsonl or .parquet. Empty: the scores' own.")]
Preset = Annotated[str, Says("A setting of the paper, such as code-pii. Empty: windows of four tokens.")]
Windows = Annotated[str, Says("fixed:N, lines, sentences, fields, responses, segments, whole. Empty: the preset's.")]
WindowScore = Annotated[str, Says("mean, top:N, prompted, contrast, or top:3+prompted. Empty: the preset's.")]
Rule = Annotated[str, Says("global, or local:N among N neighbours. Empty: the preset's.")]
Consensus = Annotated[int | None, Field(ge=1, le=1000), Says("Windows that must hold a token. None: the preset's.")]
Propagate = Annotated[
    int | None, Field(ge=0, le=1000), Says("Mask repeats of so many masked tokens in a group. None: the preset's.")
]
Unit = Annotated[str, Says("token, character, line, sentence, segment, completion. Empty: the preset's.")]
Goal = Annotated[Literal["preset", "recall", "best_f1", "collateral_cap"], Says("What the threshold is for.")]
GoalShare = Annotated[float | None, Field(gt=0, le=1), Says("The recall, or the cap of the collateral, of that goal.")]
