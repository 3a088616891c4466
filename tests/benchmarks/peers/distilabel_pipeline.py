"""distilabel: rows into one ``TextGeneration`` step. Runs in an environment of its own."""

import json
import os
import sys
from pathlib import Path

os.environ |= {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}

from distilabel.models import OpenAILLM
from distilabel.pipeline import Pipeline
from distilabel.steps import LoadDataFromDicts
from distilabel.steps.tasks import TextGeneration


def main(base_url: str, rows: int, in_flight: int, out: Path) -> None:
    prompts = [{"row": row, "instruction": f"Row {row}: say something."} for row in range(rows)]
    with Pipeline(name="rows", cache_dir=out / "cache") as pipeline:
        load = LoadDataFromDicts(data=prompts, batch_size=in_flight)
        llm = OpenAILLM(model="m", base_url=base_url, api_key="none", generation_kwargs={"max_new_tokens": 256})
        load >> TextGeneration(llm=llm, input_batch_size=in_flight)
    made = pipeline.run(use_cache=True)
    found = [(row, text) for each in made.values() for row, text in zip(*read(each["train"]), strict=True)]
    out.joinpath("answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in found))


def read(made: object) -> tuple[list[int], list[str]]:
    return made["row"], [text or "" for text in made["generation"]]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
