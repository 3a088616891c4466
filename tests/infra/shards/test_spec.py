import hashlib
import math
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr

from infra.shards.spec import spec_hash


class Config(BaseModel):
    seed: int
    languages: frozenset[str] = frozenset()
    weights: dict[str, float] = {}
    home: Path | None = None


def test_the_hash_is_that_of_canonical_json() -> None:
    assert spec_hash({"b": 1, "a": [True, None]}, "x") == hashlib.sha256(b'[{"a":[true,null],"b":1},"x"]').hexdigest()


def test_the_order_of_keys_does_not_count_and_everything_else_does() -> None:
    one = spec_hash(Config(seed=1, weights={"a": 0.5, "b": 0.25}), "v1")
    assert spec_hash(Config(seed=1, weights={"b": 0.25, "a": 0.5}), "v1") == one
    others = [
        spec_hash("v1", Config(seed=1, weights={"a": 0.5, "b": 0.25})),
        spec_hash(Config(seed=2, weights={"a": 0.5, "b": 0.25}), "v1"),
        spec_hash(Config(seed=1, weights={"a": 0.5, "b": 0.25}), "v2"),
        spec_hash(Config(seed=1, weights={"a": 0.5, "b": 0.25}, home=Path("x")), "v1"),
        spec_hash("v", "1"),
        spec_hash("v1"),
    ]
    assert len({one, *others}) == 7


def test_a_set_hashes_alike_in_every_process() -> None:
    script = "from infra.shards.spec import spec_hash; print(spec_hash({'languages': set('abcdefgh')}))"
    root = Path(__file__).parents[3]
    found = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=root, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_what_has_no_canonical_form_is_refused() -> None:
    with pytest.raises(TypeError, match="SecretStr"):
        spec_hash({"key": SecretStr("s")})
    with pytest.raises(ValueError, match="not JSON compliant"):
        spec_hash({"weight": math.nan})
