"""Targets that people call do their work whatever folders there are: `docs` is one."""

import re
from pathlib import Path

MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")


def test_every_target_that_help_lists_is_phony() -> None:
    shown = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*?)\n\n", MAKEFILE, re.MULTILINE | re.DOTALL)
    assert phony is not None
    assert shown - set(phony.group(1).replace("\\\n", " ").split()) == set()
    assert "docs" in shown
