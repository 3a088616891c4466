"""Keeps other people's logs off the terminal of a person who has not asked for them."""

import logging
import os


def quiet_prefect() -> None:
    """Let Prefect print warnings only, and of failed runs nothing: the command tells them, and the API gets it all.

    Call it before anything else imports Prefect, which reads its settings for logs while it is imported.
    """
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "WARNING")
    import prefect  # noqa: F401 - sets up the loggers

    for runs in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(runs).propagate = False
