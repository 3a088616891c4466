"""Logs of deployed runs: errors that a person can mend are a line, as on the command line; bugs keep a traceback."""

import logging

from prefect.exceptions import CancelledRun

from flows.commands.errors import EXPECTED

LOGGERS = ("prefect.engine", "prefect.flow_runs", "prefect.task_runs")  # which log exceptions, with tracebacks


def in_a_line(record: logging.LogRecord) -> bool:
    """Let what a record says of a cancelled run or an expected error be a line; its traceback says nothing more."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, CancelledRun):  # the engine takes that state for an error of its own
        record.levelno, record.levelname = logging.INFO, "INFO"
        record.msg, record.args, record.exc_info = "The run was cancelled, and has ended in order.", (), None
    elif isinstance(error, EXPECTED):
        record.msg, record.args, record.exc_info = "%s: %s", (type(error).__name__, error), None
    return True


def speak_plainly() -> None:
    """Have Prefect's loggers of runs do so; a second time does nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(in_a_line)
