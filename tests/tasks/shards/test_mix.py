import numpy as np
import pytest

from infra.llm.fake import FakeBackend
from infra.llm.types import BackendGone
from tasks.shards.mix import Mix
from tasks.synthesis.chain import MixedModel


def model(name: str, weight: float) -> MixedModel:
    return MixedModel(FakeBackend(lambda _: "", name), weight, lambda _: 0.0)


def drawn(mix: Mix, place: float) -> str:
    """Draw as a chain does: by where ``place``, from 0 to 1, falls on the weights."""
    ends = np.cumsum([each.weight for each in mix])
    return mix[int(np.searchsorted(ends, place * ends[-1], side="right"))].backend.model


PLACES = np.linspace(0.0005, 0.9995, 1000)


def test_only_the_records_of_the_lost_model_move_and_they_go_by_weight() -> None:
    mix = Mix([model("a", 2), model("b", 1), model("c", 3)], hands_over=True)
    before = [drawn(mix, place) for place in PLACES]
    mix.lose(BackendGone("b: HTTP 401", "b"))
    after = [drawn(mix, place) for place in PLACES]
    assert [new for old, new in zip(before, after, strict=True) if old != "b"] == [old for old in before if old != "b"]
    heirs = [new for old, new in zip(before, after, strict=True) if old == "b"]
    assert heirs.count("a") / len(heirs) == pytest.approx(2 / 5, abs=0.01)
    assert heirs.count("c") / len(heirs) == pytest.approx(3 / 5, abs=0.01)


def test_the_last_model_cannot_be_lost() -> None:
    mix = Mix([model("a", 2), model("b", 1)], hands_over=True)
    mix.lose(BackendGone("a is gone", "a"))
    mix.lose(BackendGone("a is gone", "a"))  # told by another record
    with pytest.raises(BackendGone, match="b is gone"):
        mix.lose(BackendGone("b is gone", "b"))


def test_nothing_is_handed_over_unasked_or_for_an_embedder() -> None:
    with pytest.raises(BackendGone):
        Mix([model("a", 1), model("b", 1)], hands_over=False).lose(BackendGone("gone", "a"))
    with pytest.raises(BackendGone):
        Mix([model("a", 1), model("b", 1)], hands_over=True).lose(BackendGone("gone", "embedder"))


async def test_a_record_starts_anew_with_its_heir() -> None:
    mix = Mix([model("a", 1), model("b", 1)], hands_over=True)
    asked: list[str] = []

    async def run(place: float) -> str:
        name = drawn(mix, place)
        asked.append(name)
        if name == "a":
            raise BackendGone("a is gone", "a")
        return name

    assert await mix.surviving(run)(0.1) == "b"
    assert asked == ["a", "b"]
