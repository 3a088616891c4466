import re

import pytest

from tasks.corpora.code_pii.identities import KINDS, MOST, PrivateSplit, draw

SHAPES = {
    "username": r"[a-z]{2,}_[0-9]{3}",
    "workspace": r"[a-z_]+/[a-z]+/[a-z]+/[a-z]+_[a-z]+",
    "account_id": r"[A-Z0-9]{4}-[A-Z0-9]{4}-[A-Z0-9]{4}",
    "recovery": r"[A-Za-z0-9]{32}",
}


def test_values_have_the_papers_shapes() -> None:
    for number in range(25):
        for kind, value in draw(0, "train", number).items():
            assert re.fullmatch(SHAPES[kind], value.text), value
            assert (value.id, value.kind, value.group) == (f"{kind}-{number:02d}", kind, f"identity-{number:02d}")


def test_the_username_and_the_workspace_are_of_one_person() -> None:
    values = draw(5, "train", 7)
    first, _, last = values["workspace"].text.rpartition("/")[2].partition("_")
    assert values["username"].text.startswith(f"{first[0]}{last}_")


@pytest.mark.parametrize("seed", [0, 1, 17])
def test_nobody_has_a_value_of_another(seed: int) -> None:
    splits: tuple[PrivateSplit, ...] = ("train", "calibration")
    drawn = [draw(seed, split, number) for split in splits for number in range(MOST)]
    for kind in KINDS:
        assert len({values[kind].text for values in drawn}) == 2 * MOST
    assert len({values["workspace"].text.rpartition("/")[2] for values in drawn}) == 2 * MOST  # nor a name


def test_the_seed_decides() -> None:
    assert draw(3, "train", 4) == draw(3, "train", 4)
    assert draw(3, "train", 4)["recovery"].text != draw(4, "train", 4)["recovery"].text


def test_there_is_an_end_to_identities() -> None:
    with pytest.raises(ValueError, match=f"identity {MOST} of train"):
        draw(0, "train", MOST)
