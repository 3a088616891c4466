"""A small record to sanitize."""

from collections.abc import Mapping

from tasks.sanitization.source import Source
from tasks.synthesis.attributes import Attribute, Group
from tasks.synthesis.grounding import find_spans

LETTER = (
    "Subject: Ana Lima, file 4471\n\n"
    + "Dear Dr. Karim,\n\nAna Lima came to the clinic in Porto on 3 May 2019 with a swollen knee. " * 1
    + "She was given ibuprofen and told to rest for two weeks. Her sister Marta drove her home in the rain.\n\n"
    + "The bill of 240 euros was paid in cash. Please send the pictures to Rua das Flores 12 before the summer, "
    + "and tell the bakery that the bread was good.\n\nRegards,\nANA LIMA\n"
)
FACTS = {
    "name": "Ana Lima",
    "file_number": "4471",
    "clinic_city": "Porto",
    "visit_date": "3 May 2019",
    "medicine": "ibuprofen",
    "sister": "Marta",
    "bill": "240 euros",
    "address": "Rua das Flores 12",
}
GROUPS = {"who she is": ("name", "file_number"), "places": ("clinic_city", "address")}


def attribute(key: str, value: str, text: str = LETTER) -> Attribute:
    return Attribute(key, value, "text", tuple(find_spans(text, value)))


def source(
    text: str = LETTER,
    facts: Mapping[str, str] = FACTS,
    groups: Mapping[str, tuple[str, ...]] = GROUPS,
    record_id: str = "r-00000007-00000000",
) -> Source:
    return Source(
        record_id,
        0,
        "English",
        text,
        tuple(attribute(key, value, text) for key, value in facts.items()),
        tuple(Group(name, keys) for name, keys in groups.items()),
    )
