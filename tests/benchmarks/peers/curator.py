"""Bespoke Curator: a subclass of ``LLM`` with a prompt and a parser. Runs in an environment of its own."""

import json
import os
import sys
from pathlib import Path

out = Path(sys.argv[4])
os.environ |= {
    "TELEMETRY_ENABLED": "0",
    "CURATOR_VIEWER": "0",
    "CURATOR_DISABLE_RICH_DISPLAY": "1",
    "CURATOR_CACHE_DIR": str(out / "cache"),  # where it resumes from
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "HF_DATASETS_OFFLINE": "1",
}

import litellm  # noqa: E402 - it reads the environment

os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(litellm.__file__).parent / "litellm_core_utils" / "tokenizers")

from bespokelabs import curator  # noqa: E402
from datasets import Dataset  # noqa: E402


class Answers(curator.LLM):
    def prompt(self, input: dict[str, object]) -> str:
        return str(input["prompt"])

    def parse(self, input: dict[str, object], response: str) -> dict[str, object]:
        return {"row": input["row"], "text": response}


def main(base_url: str, rows: int, in_flight: int) -> None:
    answers = Answers(
        model_name="m",
        backend="openai",
        generation_params={"max_tokens": 256},
        backend_params={
            "base_url": base_url,
            "api_key": "none",
            "max_requests_per_minute": 10_000_000,
            "max_tokens_per_minute": 100_000_000_000,
            "max_concurrent_requests": in_flight,
            "max_retries": 10,
            "require_all_responses": True,
        },
    )
    prompts = Dataset.from_list([{"row": row, "prompt": f"Row {row}: say something."} for row in range(rows)])
    made = answers(prompts)
    found = getattr(made, "dataset", made)
    out.joinpath("answers.jsonl").write_text("".join(json.dumps((each["row"], each["text"])) + "\n" for each in found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
