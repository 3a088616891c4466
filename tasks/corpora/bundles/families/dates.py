"""Tasks on calendar dates, given and returned as ISO texts."""

from datetime import date, timedelta

from tasks.corpora.bundles.draft import Draft, Family

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _due(days: int, skipped: str) -> Draft:
    condition, told = {
        "weekend": ("day.weekday() < 5", "Saturdays and Sundays do not count"),
        "sunday": ("day.weekday() != 6", "Sundays do not count"),
        "nothing": ("day > start", "every day counts"),
    }[skipped]

    def oracle(start: str) -> str:
        day, left = date.fromisoformat(start), days
        off = {"weekend": (5, 6), "sunday": (6,), "nothing": ()}[skipped]
        while left:
            day += timedelta(1)
            left -= day.weekday() not in off
        return day.isoformat()

    return Draft(
        "due_date(text)",
        f"takes an ISO date and returns the ISO date {days} days later; {told}.",
        "find when something is due",
        f'''\
from datetime import date, timedelta


def due_date(text: str) -> str:
    """Return the date {days} counted days later."""
    start = date.fromisoformat(text)
    day = start
    counted = 0
    while counted < {days}:
        day = day + timedelta(days=1)
        counted = counted + int({condition})
    return day.isoformat()
''',
        (f"counted < {days}", f"counted <= {days}"),
        [("2024-02-27",), ("2023-12-29",), ("2025-06-01",), ("2024-08-16",)],
        oracle,
    )


def _calendar_groups(unit: str, gives: str) -> Draft:
    key, told = {
        "month": ("day.month", "month (1 to 12)"),
        "quarter": ("(day.month - 1) // 3 + 1", "quarter (1 to 4)"),
        "weekday": ("day.weekday()", "weekday (0 for Monday)"),
        "year": ("day.year", "year"),
        "decade": ("day.year // 10 * 10", "decade (its first year)"),
        "half": ("1 if day.month < 7 else 2", "half of the year (1 or 2)"),
    }[unit]
    final, aim, kind = {
        "counts": ("{name: len(days) for name, days in sorted(groups.items())}", "how many dates there are", "int"),
        "first": ("{name: min(days).isoformat() for name, days in sorted(groups.items())}", "the earliest date", "str"),
        "last": ("{name: max(days).isoformat() for name, days in sorted(groups.items())}", "the latest date", "str"),
    }[gives]

    def oracle(texts: list[str]) -> dict[int, object]:
        def bucket(text: str) -> int:
            day = date.fromisoformat(text)
            quarter = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3}.get(day.month, 4)
            return {
                "month": int(text[5:7]), "quarter": quarter, "weekday": day.isoweekday() - 1,
                "year": int(text[:4]), "decade": int(text[:3] + "0"), "half": 1 + (quarter > 2),
            }[unit]  # fmt: skip

        names = sorted({bucket(text) for text in texts})
        members = {name: sorted(text for text in texts if bucket(text) == name) for name in names}
        return {name: {"counts": len(m), "first": m[0], "last": m[-1]}[gives] for name, m in members.items()}

    return Draft(
        "group_dates(texts)",
        f"takes ISO dates and returns a dict from each {told} that occurs, in order, to {aim}.",
        f"group dates by {unit}",
        f'''\
from collections import defaultdict
from datetime import date


def group_dates(texts: list[str]) -> dict[int, {kind}]:
    """Group dates by {unit}."""
    groups: dict[int, list[date]] = defaultdict(list)
    for text in texts:
        day = date.fromisoformat(text)
        name = {key}
        groups[name].append(day)
    return {final}
''',
        ("groups[name].append(day)", "groups[name] = [day, day]"),
        [
            (["2024-01-31", "2024-06-30", "2024-07-01", "2023-06-15", "2019-12-31", "2024-01-05"],),
            (["2022-03-08", "2022-03-14", "2022-03-07"],),
            (["2021-05-03", "2021-05-31"],),
            ([],),
            (["1999-12-31", "2000-01-01", "1999-11-30"],),
        ],
        oracle,
    )


def _span(unit: int, inclusive: bool) -> Draft:
    extra = " + 1" if inclusive else ""
    names = {
        1: "days",
        7: "whole weeks",
        10: "whole blocks of 10 days",
        14: "whole fortnights",
        30: "whole blocks of 30 days",
    }

    def oracle(first: str, second: str) -> int:
        low, high = sorted([date.fromisoformat(first), date.fromisoformat(second)])
        return (high.toordinal() - low.toordinal() + inclusive) // unit

    return Draft(
        "days_apart(first, second)",
        f"returns how many {names[unit]} lie between two ISO dates, in whichever order they are given"
        f"{', both dates counted' if inclusive else ''}.",
        "measure a period",
        f'''\
from datetime import date


def days_apart(first: str, second: str) -> int:
    """Return the {names[unit]} between two dates."""
    start = date.fromisoformat(first)
    end = date.fromisoformat(second)
    days = abs((end - start).days){extra}
    return days // {unit}
''',
        (f"days // {unit}", f"days // {unit + 1}"),
        [
            ("2024-01-01", "2024-03-01"),
            ("2023-05-30", "2023-05-02"),
            ("2020-02-29", "2020-02-29"),
            ("2024-12-31", "2025-02-28"),
        ],
        oracle,
    )


def _pick_days(weekday: int, nth: int) -> Draft:
    name = _DAYS[weekday]
    ordinal = {1: "first", 2: "second", 3: "third", 4: "fourth"}[nth]

    def oracle(year: int, month: int) -> str:
        days = [
            day
            for n in range(31)
            if (day := date(year, month, 1) + timedelta(n)).month == month and day.weekday() == weekday
        ]
        return days[nth - 1].isoformat()

    return Draft(
        "meeting_day(year, month)",
        f"returns the ISO date of the {ordinal} {name} of a month.",
        f"know when the {ordinal} {name} is",
        f'''\
import calendar
from datetime import date


def meeting_day(year: int, month: int) -> str:
    """Return the date of the {ordinal} {name}."""
    weeks = calendar.Calendar().monthdayscalendar(year, month)
    days = [week[{weekday}] for week in weeks if week[{weekday}]]
    chosen = date(year, month, days[{nth - 1}])
    return chosen.isoformat()
''',
        (f"days[{nth - 1}]", f"days[{nth % 4}]"),
        [(2024, 2), (2023, 10), (2025, 6), (2021, 1)],
        oracle,
    )


FAMILIES = (
    Family("due-dates", {"days": (2, 3, 5, 7, 10, 14), "skipped": ("weekend", "sunday", "nothing")}, _due),
    Family(
        "date-groups",
        {"unit": ("month", "quarter", "weekday", "year", "decade", "half"), "gives": ("counts", "first", "last")},
        _calendar_groups,
    ),
    Family("periods", {"unit": (1, 7, 10, 14, 30), "inclusive": (False, True)}, _span),
    Family("meeting-days", {"weekday": (0, 1, 2, 3, 4, 5, 6), "nth": (1, 2, 3, 4)}, _pick_days),
)
