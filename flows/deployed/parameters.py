"""The parameters of deployments: types whose bounds, choices and descriptions make a form in Prefect's dashboard.

Prefect shows a parameter's description only where its JSON schema has one, and of ``Field(description=...)`` inside
``Annotated`` it takes none over: ``Says`` writes it there.

A parameter that says nothing (None, an empty text, ``as_in_run_file``) leaves its setting to the run file, and to the
default without one: just as a flag of the command line that is not given.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from flows.artifacts.sample import Sample as SampleChoice
from infra.shards.plan import Reprocess as ReprocessChoice

SAFE = 2**53  # a form rounds larger integers, and no longer says so
NAME = r"^([A-Za-z0-9][A-Za-z0-9._-]*)?$"


@dataclass(frozen=True, slots=True)
class Says:
    """The description of a parameter, in ``Annotated``."""

    text: str

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON schema of the parameter's type with the description in it."""
        return handler(schema) | {"description": self.text}


EngineChoice = Literal["as_in_run_file", "llama_cpp", "openai", "litellm", "simulator"]
Form = Literal["chats", "documents"]

# What is made, and where.
Dataset = Annotated[str, Field(pattern=NAME), Says("Name of the data set. Empty: as in the run file, else records.")]
Root = Annotated[
    str, Says("Folder of the data sets. Empty: as in the run file, else the worker's PRIVASIS_ROOT (data).")
]
HeldDataset = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$"), Says("Name of the data set.")]
HeldRoot = Annotated[str, Says("Folder of the data sets. Empty: the worker's PRIVASIS_ROOT, else data.")]
RunFile = Annotated[
    str,
    Says(
        "Settings that this form does not have (mixes of models, addresses, prices, judges): the name of a file in the"
        " worker's folder of run files (PRIVASIS_RUN_FILES), or its text (TOML, as `privasis init` writes it)."
        " Parameters of this form win over it."
    ),
]
Settings = Annotated[
    list[str],
    Says("Any other setting of the run file, one NAME=VALUE an item, such as synthesis.refinement.pool_size=100."),
]
Records = Annotated[
    int | None, Field(ge=1, le=100_000_000), Says("How many records. None: as in the run file, else 100.")
]
First = Annotated[
    int | None, Field(ge=0, le=10**12), Says("First record of the population. None: as in the run file, else 0.")
]
Seed = Annotated[
    int | None, Field(ge=0, lt=SAFE), Says("Another seed is another population. None: as in the run file, else 1.")
]
Language = Annotated[
    str, Says("Language of the records, in English (German). Empty: as in the run file, else English.")
]
Words = Annotated[int | None, Field(ge=20, le=5000), Says("Length asked of a record. None: as in the run file.")]
RefinementSteps = Annotated[
    int | None, Field(ge=0, le=20), Says("Revisions offered to each draft. None: as in the run file.")
]
Reprocess = Annotated[
    ReprocessChoice,
    Says(
        "What to make again: nothing that was begun (missing), what was begun (missing_and_failed), also what other"
        " settings or inputs made (stale), everything (all). What is finished and current is never made again but by"
        " all."
    ),
]

# Who makes it, and how.
Engine = Annotated[
    EngineChoice,
    Says(
        "What serves the model: llama.cpp on the worker, any server of the OpenAI protocol (OPENAI_BASE_URL and"
        " OPENAI_API_KEY of the worker say which), litellm for other providers, or the simulator for dry runs."
    ),
]
Model = Annotated[
    str, Says("Name of the model there. Empty: the embedded one of llama.cpp, or the simulator's; else say it.")
]
Workers = Annotated[
    int | None,
    Field(ge=1, le=10_000),
    Says("Shards at once: worker processes of this run, each with a CPU of the Ray cluster. None: as in the run file."),
]
InFlight = Annotated[
    int | None, Field(ge=1, le=4096), Says("Records of one shard worked on at once. None: as in the run file, else 4.")
]
Budget = Annotated[
    float | None,
    Field(gt=0, le=1e9),
    Says("Begin nothing new when the data set's stage has cost so many USD in all. None: as in the run file."),
]
Sample = Annotated[
    SampleChoice,
    Says("What the run's page shows of three rows: nothing, groups and lengths with texts masked, or the full texts."),
]

# Who judges.
Evaluator = Annotated[
    str,
    Says(
        "Model that judges: the name of one of the run file, or KIND:NAME, such as openai:gpt-oss-120b. Empty: the run"
        " file's only model."
    ),
]

# Programs that train and measure.
ModelPath = Annotated[
    str, Field(min_length=1), Says("Folder with safetensors, hub name, embedded model, or the URL of a server.")
]
Corpus = Annotated[str, Field(min_length=1), Says("Folder that the deployment corpus wrote, or s3://BUCKET/PREFIX.")]
Output = Annotated[str, Field(min_length=1), Says("Folder of the results, on the worker; the same again goes on.")]
CorpusForm = Annotated[Form, Says("What of the corpus the model was trained on.")]
DrawingSeed = Annotated[int, Field(ge=0, lt=2**31), Says("Of what is drawn.")]
Tokenizer = Annotated[
    str, Says("Tokenizer of a served model: a folder or a hub name. Empty: where the server has the model from.")
]
Device = Annotated[str, Says("cpu, cuda or cuda:1. Empty: a GPU where there is one.")]
ScoresFolder = Annotated[
    str, Field(min_length=1), Says("Folder that the deployment surprise-score wrote, or s3://BUCKET/PREFIX/NAME.")
]
