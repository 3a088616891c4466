"""Secrets by Samsung's CredSweeper (MIT): its rules, filters and the small model that it carries.

Texts are scanned in memory. The rules' patterns, their filters and the model start once an object, not once a text.
"""

import logging
import warnings
from collections.abc import Sequence

from infra.detectors.places import Lines, Span

with warnings.catch_warnings():  # of its own classes, which the pinned version has and exports
    warnings.filterwarnings("ignore", "This class will be removed", DeprecationWarning)
    from credsweeper import CredSweeper as Scanner
    from credsweeper import StringContentProvider
    from credsweeper.credentials.line_data import LineData

_LOGS_WITH_SECRETS = (  # below ERROR these print lines and values
    "credsweeper.credentials.credential_manager",
    "credsweeper.scanner.scanner",
    "credsweeper.scanner.scan_type.scan_type",
    "credsweeper.ml_model.ml_validator",
)


class CredSweeper:
    """The scanner with its default rules and its default threshold of the model."""

    name = "CredSweeper"

    def __init__(self) -> None:
        for log in _LOGS_WITH_SECRETS:
            logging.getLogger(log).addFilter(_only_errors)
        self._scanner = Scanner()

    def __call__(self, texts: Sequence[str], paths: Sequence[str]) -> list[list[Span]]:
        """Find the spans of secret values.

        Args:
            texts: R texts.
            paths: what each would be called as a file: rules and model look at its folders and its ending.

        Returns:
            Spans of each text, in any order; they may overlap.
        """
        rows = [Lines.of(text) for text in texts]
        found: list[list[Span]] = [[] for _ in texts]
        manager = self._scanner.credential_manager
        try:
            self._scanner.scan([_provider(row, lines, paths[row]) for row, lines in enumerate(rows)], None)
            self._scanner.post_processing(None)
            for credential in manager.get_credentials():
                for data in credential.line_data_list:
                    row = int(data.info)
                    found[row] += _places(rows[row], data)
        finally:
            manager.clear_credentials()
        return found


def _provider(row: int, lines: Lines, path: str) -> StringContentProvider:
    """Offer a text; the row goes into ``info``, and into the path, by which the scanner tells values apart."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This class will be removed", DeprecationWarning)
        return StringContentProvider(lines.read(), file_path=f"{row}/{path}", info=str(row))


def _places(lines: Lines, data: LineData) -> list[Span]:
    """Take the reported place where the value stands there, and look for the value where it does not."""
    start, stop = lines.bounds[data.line_num - 1]
    place = (start + data.value_start, start + data.value_end)
    if data.value and start <= place[0] and place[1] <= stop and lines.text[slice(*place)] == data.value:
        return [place]
    return lines.places(data.line_num - 1, data.value or "")


def _only_errors(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR
