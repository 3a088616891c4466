"""The eleven domains and 42 subcategories that records fall into, with the paper's shares (PV Table 1).

Table 1 names the top three subcategories of each domain, 32 in all, of the 42 that the paper counts. The other ten are
our decision: one for each of the ten domains whose named subcategories do not add up to the domain's share.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subcategory:
    """A kind of record within a domain; ``percent`` of all records, None where we added it (see above)."""

    name: str
    percent: float | None

    @property
    def is_ours(self) -> bool:
        """Whether the name is our decision and not the paper's."""
        return self.percent is None


@dataclass(frozen=True, slots=True)
class Domain:
    """A row of Table 1; ``percent`` of all records. The rows add up to 100.1, as printed."""

    name: str
    percent: float
    subcategories: tuple[Subcategory, ...]


def _row(name: str, percent: float, *subcategories: tuple[str, float | None]) -> Domain:
    return Domain(name, percent, tuple(Subcategory(*subcategory) for subcategory in subcategories))


DOMAINS = (
    _row(
        "Health & Wellness",
        20.7,
        ("Medical Care", 11.8),
        ("Mental Health & Support", 4.2),
        ("Healthcare Administration", 3.2),
        ("Preventive Health & Nutrition", None),
    ),
    _row(
        "Government & Civic",
        13.5,
        ("Immigration & Citizenship", 4.9),
        ("Legal Proceedings", 3.8),
        ("Public Administration", 3.2),
        ("Public Benefits & Housing", None),
    ),
    _row(
        "Business & Finance",
        13.4,
        ("Employment & HR", 4.9),
        ("Financial Management", 4.3),
        ("Accounting & Tax", 1.9),
        ("Commerce & Entrepreneurship", None),
    ),
    _row(
        "Personal & Family",
        10.7,
        ("Personal Development", 6.0),
        ("Family Relationships", 2.0),
        ("Life Events", 1.9),
        ("Home & Household", None),
    ),
    _row(
        "Community & Social",
        9.3,
        ("Community Services", 4.8),
        ("Religious & Spiritual", 2.3),
        ("Volunteer & Nonprofit", 1.1),
        ("Social Groups & Advocacy", None),
    ),
    _row(
        "Professional Services",
        9.1,
        ("Project Management", 6.0),
        ("Consulting & Advisory", 1.1),
        ("Specialized Services", 1.0),
        ("Real Estate & Property", None),
    ),
    _row(
        "Education & Training",
        8.9,
        ("Academic Administration", 5.6),
        ("Financial Aid", 1.8),
        ("Learning & Development", 0.8),
        ("Student Life & Support", None),
    ),
    _row(
        "Legal & Compliance",
        7.6,
        ("Criminal Justice", 2.3),
        ("Contracts & Agreements", 2.1),
        ("Court & Litigation", 1.6),
        ("Regulatory Compliance", None),
    ),
    _row(
        "Media & Comms.",
        3.9,
        ("Publishing & Content", 1.6),
        ("Creative Arts", 1.3),
        ("Communication", 0.7),
        ("Journalism & Public Relations", None),
    ),
    _row(
        "Recreation & Lifestyle",
        2.3,
        ("Travel & Tourism", 1.2),
        ("Food & Culinary", 0.5),
        ("Entertainment & Hobbies", 0.5),
        ("Sports & Outdoors", None),
    ),
    _row(
        "Technical & Operations",
        0.7,
        ("System Administration", 0.6),
        ("Technical Support", 0.1),
    ),
)

_BY_NAME = {domain.name: domain for domain in DOMAINS}


def domain_named(name: str) -> Domain:
    """Return the domain of that exact name.

    Raises:
        ValueError: Table 1 has no such domain.
    """
    if name not in _BY_NAME:
        raise ValueError(f"domain {name!r}: not one of {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def subcategories(domain: str) -> tuple[str, ...]:
    """Return the names of a domain's subcategories, the largest first.

    Raises:
        ValueError: Table 1 has no such domain.
    """
    return tuple(subcategory.name for subcategory in domain_named(domain).subcategories)
