"""Documents by stratum: by repository, by language, or by whatever else the data say of them."""

from collections.abc import Mapping, Sequence

import numpy as np

from tasks.surprise.documents import Document
from tasks.surprise.evaluation.notation import Misspelled
from tasks.surprise.rows import Bool


def strata(documents: Sequence[Document], name: str) -> Mapping[str, Bool]:
    """For each value of a stratum, the documents that have it, shape (R,) each; documents without one are in none.

    Raises:
        Misspelled: no document has that stratum.
    """
    values = [document.strata.get(name) for document in documents]
    found = sorted({value for value in values if value is not None})
    if not found:
        known = sorted({each for document in documents for each in document.strata})
        raise Misspelled(f"no document has a stratum {name!r}: there are {', '.join(['category', *known])}")
    return {value: np.array([each == value for each in values], dtype=np.bool_) for value in found}
