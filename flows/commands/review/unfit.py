"""What is wrong with a sheet, a key, or answers is for a person to mend: a message, exit code 2."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.config import ConfigError
from tasks.reviewing.answers import AnswersUnfit
from tasks.reviewing.sampling import TooFew
from tasks.reviewing.sheet import SheetUnfit


@contextmanager
def as_usage() -> Iterator[None]:
    """Turn these errors of the block into a ``ConfigError``."""
    try:
        yield
    except (AnswersUnfit, SheetUnfit, TooFew) as error:
        raise ConfigError(str(error)) from error
