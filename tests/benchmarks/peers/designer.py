"""Data Designer: a seed column of prompts, one text column over it. Runs in an environment of its own."""

import json
import os
import sys
from pathlib import Path

os.environ["NEMO_TELEMETRY_ENABLED"] = "false"

import data_designer.config as dd
import pandas as pd
from data_designer.interface import DataDesigner, ResumeMode


def main(base_url: str, rows: int, in_flight: int, out: Path) -> None:
    provider = dd.ModelProvider(name="local", endpoint=base_url, provider_type="openai", api_key="none")
    parameters = dd.ChatCompletionInferenceParams(max_parallel_requests=in_flight, max_tokens=256)
    model = dd.ModelConfig(
        alias="m", model="m", provider="local", inference_parameters=parameters, skip_health_check=True
    )
    builder = dd.DataDesignerConfigBuilder(model_configs=[model])
    prompts = pd.DataFrame({"row": range(rows), "prompt": [f"Row {row}: say something." for row in range(rows)]})
    builder.with_seed_dataset(dd.DataFrameSeedSource(df=prompts))
    builder.add_column(dd.LLMTextColumnConfig(name="text", prompt="{{ prompt }}", model_alias="m"))
    artifacts = out / "artifacts"
    resume = ResumeMode.ALWAYS if artifacts.exists() else ResumeMode.NEVER
    designer = DataDesigner(artifact_path=artifacts, model_providers=[provider])
    designer.set_run_config(dd.RunConfig(otel_metrics_port=None))
    frame = designer.create(builder, num_records=rows, dataset_name="rows", resume=resume).load_dataset()
    found = zip(frame["row"], frame["text"], strict=True)
    out.joinpath("answers.jsonl").write_text("".join(json.dumps((int(row), text)) + "\n" for row, text in found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
