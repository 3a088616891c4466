from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from infra.shards import parquet

SCHEMA = pa.schema([("id", pa.string())])


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


@pytest.mark.parametrize("damage", [Path.unlink, cut])
def test_a_damaged_data_file_is_named_and_how_to_get_it_back(damage: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "part-00000000-00000002.parquet"
    path.write_bytes(parquet.encode(pa.table({"id": ["a", "b"]}, SCHEMA)))
    damage(path)
    with pytest.raises(parquet.TableDamaged, match=f"^{path} .*run its stage again"):
        parquet.read(path, SCHEMA)
