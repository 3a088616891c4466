"""Counts in sentences."""


def counted(number: int, noun: str) -> str:
    """Write a number and its noun: ``1 shard``, ``1,200 shards``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(hours: float) -> str:
    """Write a time to wait for, in the unit in which a person thinks of it."""
    if hours < 1 / 30:
        return f"{hours * 3600:,.0f} seconds"
    return f"{hours * 60:,.0f} minutes" if hours < 2 else f"{hours:,.1f} hours"
