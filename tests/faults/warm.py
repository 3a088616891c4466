"""Imported by the process that runs are forked from, so that it has imported and read all that a first record needs."""

import asyncio

import infra.llm.openai_api  # noqa: F401 - what connects imports it late
from infra.llm.fake import FakeBackend
from infra.shards import parquet
from tasks.synthesis.outcome import tables
from tests.faults import small_runs, small_triplets  # noqa: F401 - what is forked runs them
from tests.tasks.synthesis.script import chain_of, scripted

for table in tables([asyncio.run(chain_of(FakeBackend(scripted({}))).run(0))]).values():
    parquet.encode(table)
