"""How figures are written for a person; what could not be measured is a dash, never a zero."""

NOTHING = "–"


def count(value: float | None) -> str:
    """Write a whole number, thousands apart."""
    return NOTHING if value is None else f"{value:,.0f}"


def fixed(value: float | None, digits: int = 1) -> str:
    """Write a number with ``digits`` decimals."""
    return NOTHING if value is None else f"{value:,.{digits}f}"


def signed(value: float | None) -> str:
    """Write a difference."""
    return NOTHING if value is None else f"{value:+.3f}"


def percent(value: float | None) -> str:
    """Write a fraction of one."""
    return NOTHING if value is None else f"{value:.1%}"


def usd(value: float | None) -> str:
    """Write a sum, below a dollar to a hundredth of a cent: a record often costs less than a cent."""
    if value is None:
        return NOTHING
    return f"${value:,.4f}" if 0 < value < 1 else f"${value:,.2f}"
