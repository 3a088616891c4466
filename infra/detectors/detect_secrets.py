"""Secrets by Yelp's ``detect-secrets`` (Apache-2.0): all of its plugins and default filters, as one scan of files.

Nothing is verified over the network: the filter that would is not among the library's own defaults, only its command
line adds it. The library reads files, so each text lies in a temporary folder while it is scanned.
"""

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from infra.detectors.places import Lines, Span

_show_warning = warnings.showwarning
from detect_secrets.core.scan import scan_file  # noqa: E402
from detect_secrets.settings import default_settings  # noqa: E402

if warnings.showwarning is not _show_warning:
    logging.captureWarnings(False)  # importing the library turns this on for the whole process


LONGEST_NAME = 60  # characters: of up to four bytes each, and file systems take 255 bytes


class DetectSecrets:
    """The scanner; its log shows secrets from level INFO on and stays at ERROR, where the library itself puts it."""

    name = "detect-secrets"

    def __call__(self, texts: Sequence[str], paths: Sequence[str]) -> list[list[Span]]:
        """Find the spans of secret values.

        Args:
            texts: R texts.
            paths: what each would be called as a file; its last part decides which parsers and filters apply.

        Returns:
            Spans of each text, in any order; they may overlap.
        """
        with TemporaryDirectory(prefix="privasis-") as folder, default_settings():
            return [_scan(text, Path(folder) / file_name(path)) for text, path in zip(texts, paths, strict=True)]


def file_name(path: str) -> str:
    """Give the name that a text lies under while it is scanned: a path may say anything, its ending is what counts."""
    name = PurePosixPath(path.replace("\0", "")).name
    return "text.txt" if name in ("", "..") else name[-LONGEST_NAME:]


def _scan(text: str, file: Path) -> list[Span]:
    # The library opens files in the locale's encoding, and drops what it cannot decode: so write in that one. A
    # character it lacks becomes one "?", which moves nothing.
    with file.open("w", newline="", errors="replace") as opened:
        opened.write(text)
    try:
        lines = Lines.of(text)
        return [
            place
            for secret in scan_file(str(file))
            for place in lines.places(secret.line_number - 1, secret.secret_value or "")
        ]
    finally:
        file.unlink()
