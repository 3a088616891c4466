"""Deployments that make the corpora of masked training, and run its studies."""

from typing import Annotated, Literal

from prefect import flow
from pydantic import Field

from flows.artifacts.made import tell_made
from flows.commands.corpus import make
from flows.commands.study import masking as masking_command
from flows.commands.surprise import study as benchmark_command
from flows.deployed.asked import here, place
from flows.deployed.parameters import Output, Says

Kind = Annotated[Literal["code-pii", "code-quirks"], Says("Private values in repositories, or ten users' habits.")]
Seed = Annotated[int, Field(ge=0, lt=2**31), Says("Decides every draw.")]
Programs = Annotated[int, Field(ge=1, le=256), Says("Programs that run at once, each confined.")]
CorpusOutput = Annotated[
    str, Field(min_length=1), Says("Folder of the corpus on the worker, or s3://BUCKET/PREFIX; the same again goes on.")
]
Tasks = Annotated[str, Says("Folder with tasks of your own. Empty: the built-in ones.")]
TaskLimit = Annotated[
    int | None, Field(ge=9, le=100_000), Says("Draw from this many tasks only. None: all, of code-quirks 600.")
]
People = Annotated[int, Field(ge=1, le=10_000), Says("code-pii: people, four private values each.")]
Bundles = Annotated[int, Field(ge=1, le=10_000), Says("code-pii: repositories of each person.")]
UserPrograms = Annotated[int, Field(ge=1, le=100_000), Says("code-quirks: programs of each of the ten users.")]
StudyScale = Annotated[
    Literal["mini", "paper"],
    Says("mini: a model from scratch, on two cores; paper: GPT-OSS-20B with LoRA, on a GPU with 140 GB."),
]
Seeds = Annotated[
    str, Field(pattern=r"^(\d+(\s*,\s*\d+)*)?$"), Says("Training seeds, apart by commas. Empty: the scale's three.")
]
Reference = Annotated[str, Says("Reference model, whose surprise decides. Empty: the scale's, or the benchmark's.")]
Methods = Annotated[list[str], Says("Train only these rows of the tables, now. None: all.")]
Filter = Annotated[str, Says("OpenAI Privacy Filter: folder or hub name. Empty: left out.")]
Processes = Annotated[int, Field(ge=1, le=256), Says("Processes that score; they share the cores.")]
Benchmark = Annotated[
    Literal["dead-code", "creddata", "presidio-research", "hallmark", "piibench"], Says("Which benchmark.")
]
BenchmarkData = Annotated[str, Field(min_length=1), Says("Folder with the benchmark's published files.")]
MoreMethods = Annotated[list[str], Says("Methods beside the usual ones, as of `privasis surprise evaluate`.")]


@flow(name="corpus")
def corpus(
    kind: Kind = "code-pii",
    output: CorpusOutput = "data/corpus",
    identities: People = 25,
    bundles: Bundles = 25,
    programs: UserPrograms = 400,
    task_limit: TaskLimit = None,
    tasks: Tasks = "",
    seed: Seed = 0,
    workers: Programs = 1,
) -> None:
    """Make a corpus with private values, or with habits, in code, as `privasis corpus` does."""
    folder, own = place(output), here(tasks) if tasks else None
    match kind:
        case "code-pii":
            make.code_pii(folder, own, workers, seed=seed, identities=identities, bundles=bundles, tasks=task_limit)
        case "code-quirks":
            limit = {} if task_limit is None else {"tasks": task_limit}
            make.code_quirks(folder, own, workers, seed=seed, programs=programs, **limit)
    tell_made(f"{folder.resolve().name}: {kind}", {}, {"corpus": folder.resolve()})


@flow(name="study-masking")
def study_masking(
    study: Kind = "code-pii",
    scale: StudyScale = "mini",
    output: Output = "studies",
    seeds: Seeds = "",
    model: Reference = "",
    methods: Methods = [],  # noqa: B006 - Prefect reads it as the form's default, nobody writes to it
    opf: Filter = "",
    workers: Processes = 1,
) -> None:
    """Train on masked code and attack each model, as `privasis study code-pii` and `code-quirks` do."""
    asked = masking_command.Asked(
        scale, here(output), seeds or None, model or None, tuple(methods), opf or None, workers
    )
    masking_command.run(study, asked, dry=False)
    home = here(output).resolve() / f"{study}-{scale}"
    tell_made(f"{study}: {scale}", {}, {name: home / name for name in ("study.md", "study.json", "tradeoff.png")})


@flow(name="study-surprise")
def study_surprise(
    benchmark: Benchmark,
    data: BenchmarkData,
    output: Output = "studies",
    model: Reference = "",
    methods: MoreMethods = [],  # noqa: B006 - Prefect reads it as the form's default, nobody writes to it
    workers: Processes = 1,
) -> None:
    """Reproduce a benchmark of Surprise Masking, as `privasis surprise study` does."""
    benchmark_command.run(benchmark, here(data), here(output), model or None, tuple(methods), workers)
    home = here(output).resolve()
    tell_made(f"{benchmark}: study", {}, {"results": home})
