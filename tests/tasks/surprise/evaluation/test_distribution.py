import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.curve import trade_off
from tasks.surprise.evaluation.counting import Tally
from tasks.surprise.evaluation.distribution import Distribution
from tasks.surprise.evaluation.results import auroc_of
from tasks.surprise.metrics import Counts
from tasks.surprise.rows import Bool
from tasks.surprise.units import Units

Drawn = list[tuple[float, str, int]]  # level, categories, document
DRAWN = st.lists(
    st.tuples(st.sampled_from([-math.inf, 0.0, 1.0, 2.0]), st.sampled_from(["", "a", "b", "ab"]), st.integers(0, 2)),
    min_size=1,
    max_size=20,
)


def counted(drawn: Drawn) -> Tally:
    categories: dict[str, Bool] = {
        name: np.array([name in held for _, held, _ in drawn], dtype=np.bool_) for name in "ab"
    }
    levels = np.array([level for level, _, _ in drawn])
    return Tally(
        Units(levels, categories["a"] | categories["b"]),
        np.array([document for _, _, document in drawn], dtype=np.int64),
        {name: target for name, target in categories.items() if target.any()},
    )


@given(DRAWN, st.booleans())
@settings(max_examples=80, deadline=None)
def test_a_category_is_counted_without_the_targets_of_others(drawn: Drawn, in_documents: bool) -> None:
    found = Distribution.of(counted(drawn), in_documents=in_documents)
    for name in found.categories:
        holding = {document for _, held, document in drawn if name in held}
        kept = [
            (level, name in held)
            for level, held, document in drawn
            if name in held or (not held and (document in holding or not in_documents))
        ]
        masked = [level >= 1.0 for level, _ in kept]
        hits = sum(m and target for m, (_, target) in zip(masked, kept, strict=True))
        targets = sum(target for _, target in kept)
        assert found.of_category(name).counts(None, None) == Counts(
            true_positives=sum(target and level > -math.inf for level, target in kept),
            false_positives=sum(not target and level > -math.inf for level, target in kept),
            false_negatives=sum(target and level == -math.inf for level, target in kept),
            true_negatives=sum(not target and level == -math.inf for level, target in kept),
        )
        curve = trade_off(found.of_category(name))
        assert curve.targets == targets
        assert (found.of_category(name).levels >= 1.0) @ found.of_category(name).targets == hits
        assert found.aurocs()[name] == auroc_of(curve)


@given(DRAWN, st.booleans())
@settings(max_examples=80, deadline=None)
def test_documents_in_pieces_count_as_all_at_once(drawn: Drawn, in_documents: bool) -> None:
    parts = [[unit for unit in drawn if unit[2] == document] for document in range(3)]
    whole = Distribution.of(counted(drawn), in_documents=in_documents)
    joined = Distribution.joined(
        [Distribution.of(counted(part), in_documents=in_documents) for part in parts if part],
        in_documents=in_documents,
    )
    assert joined.categories.keys() == whole.categories.keys()
    assert joined.aurocs() == whole.aurocs()
    pairs = [(joined.overall, whole.overall)]
    pairs += [(joined.of_category(name), whole.of_category(name)) for name in whole.categories]
    for one, other in pairs:
        assert one.levels.tolist() == other.levels.tolist()
        assert (one.targets.tolist(), one.others.tolist()) == (other.targets.tolist(), other.others.tolist())


def test_a_unit_of_two_categories_counts_in_both() -> None:
    found = Distribution.of(counted([(1.0, "ab", 0), (0.0, "a", 0), (-math.inf, "", 0)]))
    assert [int(found.of_category(name).targets.sum()) for name in "ab"] == [2, 1]
