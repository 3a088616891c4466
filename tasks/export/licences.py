"""The terms under which a model's output may be passed on (``licences.toml``)."""

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

UNKNOWN = "not known here: look it up before you publish"


class Licence(BaseModel):
    """What is known of the models whose names have ``pattern`` in them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pattern: str
    name: str
    spdx: str | None = None


@lru_cache(maxsize=1)
def _licences() -> tuple[Licence, ...]:
    source = Path(__file__).with_name("licences.toml").read_text(encoding="utf-8")
    return tuple(Licence.model_validate(each) for each in tomllib.loads(source)["licence"])


def licence_of(model: str) -> Licence | None:
    """Return the terms of a model's output, None where nobody has written them down here."""
    return next((each for each in _licences() if re.search(each.pattern, model, re.IGNORECASE)), None)


def common_licence(models: Iterable[str]) -> str:
    """Return the SPDX name that fits the output of all models together, ``other`` where there is none."""
    found = {licence.spdx if (licence := licence_of(model)) else None for model in models}
    (only,) = found if len(found) == 1 else (None,)
    return only or "other"
