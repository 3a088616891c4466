"""Direct leaks after merging, by target."""

from tasks.sanitization.occurrences import Leak
from tasks.sanitization.targets import Target
from tasks.sanitization.verify import TargetLeak, verify
from tests.tasks.sanitization.records import attribute

NAME = Target("name", (attribute("name", "Ana Lima"),), False, "drop", 5.0)
PLACES = Target("places", (attribute("city", "Porto"), attribute("address", "Rua das Flores 12")), True, "drop", 5.0)


def test_each_value_that_still_stands_is_told_with_its_target() -> None:
    assert verify("ANA LIMA of Rua das Flores 12", [NAME, PLACES]) == (
        TargetLeak(0, Leak("name", "Ana Lima", exact=False)),
        TargetLeak(1, Leak("address", "Rua das Flores 12", exact=True)),
    )


def test_a_text_that_tells_nothing_is_clean() -> None:
    assert verify("She of a street", [NAME, PLACES]) == ()
