import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[4] / "docs" / "baselines.md"


def test_the_example_of_the_documentation_runs_and_says_what_it_gives() -> None:
    example = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    names: dict[str, object] = {}
    exec(example[1], names)
    for name in ("alone", "beside"):
        said = re.search(rf"^{name} = .*# threshold ([\d.]+)", example[1], re.MULTILINE)
        assert said is not None
        assert names[name].threshold == float(said[1])  # type: ignore[attr-defined]
    said = re.search(r"^masked = .*#((?: [01])+)", example[1], re.MULTILINE)
    assert said is not None
    assert np.array_equal(np.asarray(names["masked"]), np.array(said[1].split(), dtype=np.int64).astype(np.bool_))
