"""What the service writes to standard error: what kind of error came up and where in the code, never about what."""

import logging
import traceback
from types import TracebackType

_Info = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class WithoutMessages(logging.Formatter):
    """Formats exceptions by kind and place alone: their messages may quote a text."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line of a record; asyncio adds what was at work, such as a task with its exception."""
        if record.name == "asyncio":
            record.message = record.message.partition("\n")[0]
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        """Format a record anew: it may hold a traceback that another handler's formatter has left in it."""
        kept, record.exc_text = record.exc_text, None
        try:
            return super().format(record)
        finally:
            record.exc_text = kept

    def formatException(self, ei: _Info) -> str:
        """Return the frames and the kind of an exception, and of those that it came of."""
        lines = list[str]()
        error = ei[1]
        while error is not None:
            lines += [*traceback.format_tb(error.__traceback__), f"{type(error).__qualname__}\n"]
            error = error.__cause__ or error.__context__
        return "".join(lines)


def log_without_texts() -> None:
    """Let the server's own loggers, and those of asyncio, write warnings and errors without messages of exceptions."""
    handler = logging.StreamHandler()
    handler.setFormatter(WithoutMessages("%(levelname)s %(name)s: %(message)s"))
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
    for name in ("uvicorn.error", "uvicorn.asgi"):  # whatever configured them before neither writes nor silences them
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.NOTSET)
