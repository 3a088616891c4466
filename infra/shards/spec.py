"""The fingerprint of everything that shapes a stage's rows."""

import hashlib
import json
from collections.abc import Mapping
from datetime import date
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel

from infra.shards.location import ObjectPath


def spec_hash(*parts: BaseModel | Mapping[str, Any] | str) -> str:
    """Return the SHA-256 of ``parts`` as canonical JSON, in hexadecimal.

    The order of parts counts, the order of keys and of sets does not.

    Raises:
        TypeError: a value has no canonical form here (an object, a secret).
        ValueError: a number is not finite.
    """
    plain = [part.model_dump() if isinstance(part, BaseModel) else part for part in parts]
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: object) -> object:
    match value:
        case BaseModel():
            return value.model_dump()
        case Mapping():
            return dict(value)
        case set() | frozenset():  # iterates in another order in each process
            return sorted(value, key=lambda item: json.dumps(item, sort_keys=True, default=_plain))
        case PurePath() | ObjectPath() | date():
            return str(value)
        case _:
            raise TypeError(
                f"a {type(value).__name__} has no canonical form: give spec_hash its name or version instead"
            )
