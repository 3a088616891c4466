"""The commands ``privasis surprise ...``: what they are called with. What they do is imported when they run."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option, Typer

from flows.commands.places import Place, place
from flows.commands.surprise.score_app import score
from flows.commands.surprise.study_app import study

surprise_app = Typer(
    no_args_is_help=True,
    help="Find and mask what a public model finds surprising (Surprise Masking).",
)

surprise_app.command()(score)
surprise_app.command()(study)

ScoresFolder = Annotated[
    Place, Argument(parser=place, metavar="SCORES_DIR", help="Folder that `privasis surprise score` wrote.")
]
Json = Annotated[bool, Option("--json", help="Print JSON for a program instead.")]
METHOD = "How windows are selected"
GOAL = "What the threshold is for (one of them; default --recall .95)"


@surprise_app.command()
def calibrate(
    folder: ScoresFolder,
    output: Annotated[Path, Option("--output", "-o", metavar="FILE", help="Where to write the policy.")] = Path(
        "policy.json"
    ),
    labels: Annotated[
        Path | None,
        Option(metavar="FILE", help="JSONL or Parquet: document_id, start, end, category; instead of the scores' own."),
    ] = None,
    preset: Annotated[
        str | None,
        Option(metavar="NAME", help="A setting of the paper, such as code-pii; the options below change it."),
    ] = None,
    windows: Annotated[
        str | None,
        Option(
            metavar="KIND",
            help="fixed:N, lines, sentences, fields, responses, segments, whole.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    score: Annotated[
        str | None,
        Option(metavar="KIND", help="mean, top:N, prompted, contrast, or top:3+prompted.", rich_help_panel=METHOD),
    ] = None,
    feature: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Average standardised features instead of one score; repeat it: contrast, plain:lines.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    rule: Annotated[
        str | None, Option(metavar="KIND", help="global, or local:N among N neighbours.", rich_help_panel=METHOD)
    ] = None,
    consensus: Annotated[
        int | None, Option(min=1, metavar="K", help="Selected windows that must hold a token.", rich_help_panel=METHOD)
    ] = None,
    propagate: Annotated[
        int | None,
        Option(
            min=0,
            metavar="N",
            help="Mask repeats of N masked tokens within a group; 0 for not.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    unit: Annotated[
        str | None,
        Option(metavar="UNIT", help="token, character, line, sentence, segment, completion.", rich_help_panel=GOAL),
    ] = None,
    recall: Annotated[
        float | None, Option(metavar="SHARE", help="Least masking with this target recall.", rich_help_panel=GOAL)
    ] = None,
    best_f1: Annotated[bool, Option("--best-f1", help="The best F1.", rich_help_panel=GOAL)] = False,
    collateral_cap: Annotated[
        float | None,
        Option(metavar="SHARE", help="Highest recall that masks at most this share of the rest.", rich_help_panel=GOAL),
    ] = None,
    json: Json = False,
) -> None:
    """Choose a threshold on labelled scores and freeze it as a policy, with a picture of the trade-off beside it.

    \b
    privasis surprise calibrate scores/validation --preset creddata -o policy.json
    privasis surprise calibrate scores/mine --labels spans.jsonl --windows lines --unit line --best-f1
    privasis surprise calibrate scores/mine --windows fixed:4 --consensus 4 --propagate 4 --recall .95
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.surprise import calibrate as command
    from flows.commands.surprise.wanted import Wanted

    command.run(
        folder,
        output,
        labels,
        Wanted(
            preset=preset,
            windows=windows,
            score=score,
            features=tuple(feature or ()),
            rule=rule,
            consensus=consensus,
            propagate=propagate,
            unit=unit,
            recall=recall,
            best_f1=best_f1,
            collateral_cap=collateral_cap,
        ),
        json,
    )


@surprise_app.command()
def evaluate(
    folder: ScoresFolder,
    policy: Annotated[
        list[Path] | None, Option("--policy", metavar="FILE", help="A policy to judge; repeat it to compare.")
    ] = None,
    method: Annotated[
        list[str] | None,
        Option(
            "--method",
            metavar="NAME",
            help="Another method beside them, repeat it: oracle, random, goldfish:K, goldfish-reference:K, stm,"
            " detect-secrets, credsweeper, presidio, opf:MODEL, opf-argmax:MODEL, opf-log-odds:MODEL, policy; unions"
            " 'policy|stm', intersections 'policy&stm', residual tuning 'stm~policy'.",
        ),
    ] = None,
    unit: Annotated[
        str | None,
        Option(metavar="UNIT", help="token, character, line, sentence, segment, completion; default: the policy's."),
    ] = None,
    labels: Annotated[
        Path | None, Option(metavar="FILE", help="JSONL or Parquet: document_id, start, end, category.")
    ] = None,
    validation: Annotated[
        Path | None,
        Option(
            metavar="SCORES_DIR",
            help="Labelled scores that thresholds come from: draws both ROC curves, and holds --transfer out.",
        ),
    ] = None,
    transfer: Annotated[
        str | None,
        Option(
            metavar="STRATUM", help="Calibrate on each category, language, ... and use that threshold on the others."
        ),
    ] = None,
    in_documents: Annotated[
        bool, Option("--in-documents", help="Judge a category only on documents that hold it (as PIIBench does).")
    ] = False,
    output: Annotated[Path | None, Option("--output", "-o", metavar="FILE", help="Write all figures as JSON.")] = None,
    picture: Annotated[Path | None, Option(metavar="FILE", help="Draw the ROC curves as PNG.")] = None,
    json: Json = False,
) -> None:
    """Judge frozen policies and other methods on labelled scores: recall, collateral, F1, AUROC, by category.

    \b
    privasis surprise evaluate scores/test --policy policy.json
    privasis surprise evaluate scores/test --policy a.json --policy b.json --validation scores/val --picture roc.png
    privasis surprise evaluate scores/test --policy policy.json --validation scores/val --transfer language
    """  # noqa: D301
    from flows.commands.surprise import evaluate as command

    command.run(
        folder,
        command.Asked(
            policies=tuple(policy or ()),
            methods=tuple(method or ()),
            unit=unit,
            labels=labels,
            validation=validation,
            transfer=transfer,
            in_documents=in_documents,
        ),
        output,
        picture,
        json,
    )


@surprise_app.command()
def mask(
    folder: ScoresFolder,
    policy: Annotated[Path, Option(metavar="FILE", help="Frozen by `privasis surprise calibrate`.")],
    output: Annotated[
        Place, Option("--output", "-o", parser=place, metavar="DIR", help="Data set to write, <root>/<name>.")
    ],
    tokenizer: Annotated[
        Path | None,
        Option(metavar="PATH", help="tokenizer.json, or the folder, of the model to be trained: writes token masks."),
    ] = None,
    redact: Annotated[
        Literal["replace", "remove"] | None,
        Option(help="Write texts for release: masked spans replaced by [PASSWORD] or [REDACTED], or removed."),
    ] = None,
    json: Json = False,
) -> None:
    """Apply a frozen policy: token masks for training a model, or a redacted data set for release.

    \b
    privasis surprise mask scores/train --policy policy.json --tokenizer models/gpt2 -o masks/train-gpt2
    privasis surprise mask scores/train --policy policy.json --redact replace -o release/train
    """  # noqa: D301
    from flows.commands.surprise import mask as command

    command.run(folder, policy, output, tokenizer, redact, json)


@surprise_app.command()
def explain(
    file: Annotated[
        Place,
        Argument(parser=place, metavar="FILE|SCORES_DIR", help="A text or code file, or a folder of scores."),
    ],
    policy: Annotated[Path | None, Option(metavar="FILE", help="Box what this policy masks.")] = None,
    model: Annotated[
        str | None, Option(metavar="MODEL", help="Reference model, as of `score`; default: the policy's.")
    ] = None,
    document: Annotated[str | None, Option(metavar="ID", help="Which document of SCORES_DIR.")] = None,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write a page, too, to look at and to share.")] = None,
) -> None:
    """Show a text with each word coloured by its surprise, and what a policy masks in boxes.

    \b
    privasis surprise explain config.py --model qwen2.5-coder-0.5b
    privasis surprise explain config.py --policy policy.json --html config.html
    privasis surprise explain scores/test --document d42 --policy policy.json
    """  # noqa: D301
    from flows.commands.surprise import explain as command

    command.run(file, policy, model, document, html)


@surprise_app.command()
def route(
    folder: ScoresFolder,
    model: Annotated[str, Option(metavar="KIND:NAME", help="Model that rewrites, as of `synthesize --model`.")],
    output: Annotated[
        Place, Option("--output", "-o", parser=place, metavar="DIR", help="Data set to write, <root>/<name>.")
    ],
    select: Annotated[
        str, Option(metavar="NAME", help="surprise, prompted, contrast, random, opf:MODEL, or a name of `evaluate`.")
    ] = "surprise",
    budget: Annotated[str, Option(metavar="SHARES", help="Shares of the sentences to send.")] = ".1,.2,.8",
    judge: Annotated[
        str | None,
        Option(metavar="KIND:NAME", help="Model that says which facts are left; without, utility is BLEU alone."),
    ] = None,
    whole: Annotated[bool, Option("--whole/--no-whole", help="Rewrite whole documents beside it.")] = True,
    private: Annotated[
        str | None, Option(metavar="TEXT", help="What must not be told, in place of the usual list of identifiers.")
    ] = None,
    selector_usd: Annotated[
        float, Option(min=0, metavar="USD", help="What scoring a million source tokens costs you.")
    ] = 0.0,
    budget_usd: Annotated[
        float | None, Option(metavar="USD", help="Begin nothing new when all of this has cost so much.")
    ] = None,
    workers: Annotated[int, Option(min=1, help="Worker processes.")] = 1,
    in_flight: Annotated[int, Option(min=1, help="Documents of a shard worked on at once.")] = 4,
    json: Json = False,
) -> None:
    """Send only the most surprising sentences to a rewriting model; compare with rewriting whole documents.

    \b
    privasis surprise route scores/test --model openai:gpt-4.1-mini --budget .1,.2,.8 -o data/routed
    privasis surprise route scores/test --select random --model llama_cpp:qwen2.5-coder-0.5b -o data/by-chance
    """  # noqa: D301
    from flows.commands.surprise import route as command

    command.run(
        folder,
        output,
        command.Asked(
            select=select,
            budgets=command.budgets_of(budget),
            model=model,
            judge=judge,
            whole=whole,
            private=private,
            selector_usd=selector_usd,
            budget_usd=budget_usd,
            workers=workers,
            in_flight=in_flight,
        ),
        json,
    )
