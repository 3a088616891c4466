"""Flows as deployments: what Prefect's worker imports."""

from flows.deployed.plain_logs import speak_plainly

speak_plainly()
