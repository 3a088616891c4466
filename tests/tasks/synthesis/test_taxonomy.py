"""The taxonomy is Table 1 of the paper, and ten subcategories of ours."""

import pytest

from tasks.synthesis.taxonomy import DOMAINS, Domain, domain_named, subcategories


def named_percent(domain: Domain) -> float:
    return sum(each.percent for each in domain.subcategories if each.percent is not None)


def test_there_are_eleven_domains_and_42_subcategories() -> None:
    names = [each.name for domain in DOMAINS for each in domain.subcategories]
    assert len({domain.name for domain in DOMAINS}) == 11
    assert len(names) == len(set(names)) == 42


def test_the_shares_add_up_to_what_the_paper_prints() -> None:
    assert sum(domain.percent for domain in DOMAINS) == pytest.approx(100.1)
    assert sum(named_percent(domain) for domain in DOMAINS) == pytest.approx(89.1)


def test_domains_and_named_subcategories_are_listed_by_falling_share() -> None:
    assert [d.percent for d in DOMAINS] == sorted((d.percent for d in DOMAINS), reverse=True)
    for domain in DOMAINS:
        named = [each.percent for each in domain.subcategories if each.percent is not None]
        assert named == sorted(named, reverse=True)


def test_a_subcategory_of_ours_stands_where_the_named_ones_fall_short_of_the_domain() -> None:
    for domain in DOMAINS:
        short = domain.percent - named_percent(domain) > 0.05
        assert sum(each.is_ours for each in domain.subcategories) == short, domain.name


def test_subcategories_of_a_domain_are_given_by_its_name() -> None:
    assert subcategories("Technical & Operations") == ("System Administration", "Technical Support")
    assert subcategories("Health & Wellness")[:3] == (
        "Medical Care",
        "Mental Health & Support",
        "Healthcare Administration",
    )
    assert domain_named("Media & Comms.").percent == 3.9


def test_an_unknown_domain_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"'Sports': not one of Health & Wellness, .*Technical & Operations"):
        subcategories("Sports")
