"""Tasks on whole numbers."""

import math

from tasks.corpora.bundles.draft import Draft, Family


def _digits(base: int, reduce: str) -> Draft:
    told = {"sum": "sum", "max": "largest", "len": "number", "prod": "product"}[reduce]
    call = "math.prod(digits)" if reduce == "prod" else f"{reduce}(digits)"

    def oracle(number: int) -> int:
        places: list[int] = [number // base**n % base for n in range(64)]
        top = max((n for n, digit in enumerate(places) if digit), default=0)
        used = places[: top + 1]
        return {"sum": sum(used), "max": max(used), "len": len(used), "prod": math.prod(used)}[reduce]

    return Draft(
        "reduce_digits(number)",
        f"writes a number that is not negative in base {base} and returns the {told} of its digits; 0 has one digit.",
        "look at digits",
        f'''\
import math


def reduce_digits(number: int) -> int:
    """Return the {told} of the digits in base {base}."""
    digits = [number % {base}]
    number = number // {base}
    while number > 0:
        digits.append(number % {base})
        number = number // {base}
    result = {call}
    return result
''',
        (f"[number % {base}]", f"[number % {base} + 1]")
        if reduce == "prod"
        else ("while number > 0:", "while number > 1:"),
        [(0,), (1,), (base,), (base**3 + base + 1,), (987654,), (base * base - 1,)],
        oracle,
    )


def _checksum(weights: tuple[int, ...], modulus: int) -> Draft:
    def oracle(code: str) -> int:
        digits = [int(c) for c in code if c in "0123456789"]
        return sum(digit * weights[place % len(weights)] for place, digit in enumerate(digits)) % modulus

    return Draft(
        "checksum(code)",
        f"multiplies the digits of a code by {', '.join(map(str, weights))} in turn, from the left, and"
        " returns the sum modulo"
        f" {modulus}; other characters are skipped.",
        "compute a check digit",
        f'''\
from itertools import cycle

WEIGHTS = {weights!r}


def checksum(code: str) -> int:
    """Weigh digits and sum them up, modulo {modulus}."""
    digits = [int(character) for character in code if character.isdigit()]
    weighted = [digit * weight for digit, weight in zip(digits, cycle(WEIGHTS))]
    total = sum(weighted)
    return total % {modulus}
''',
        ("digit * weight for", "digit + weight for"),
        [("4006381333931",), ("12-34-56",), ("",), ("9",), ("0 0 7 a 5",)],
        oracle,
    )


def _factors(kind: str, bound: int) -> Draft:
    test, told = {
        "prime": ("all(number % divisor for divisor in range(2, math.isqrt(number) + 1))", "prime"),
        "square": ("math.isqrt(number) ** 2 == number", "square"),
        "divides": ("math.gcd(number, 360) == number", "a divisor of 360"),
        "coprime": ("math.gcd(number, 30) == 1", "coprime to 30"),
    }[kind]

    def oracle(limit: int) -> list[int]:
        divisors = {n: [d for d in range(1, n + 1) if n % d == 0] for n in range(bound, limit + 1)}
        return [
            n
            for n, found in divisors.items()
            if {
                "prime": len(found) == 2,
                "square": len(found) % 2 == 1,
                "divides": 360 % n == 0,
                "coprime": not {2, 3, 5} & set(found),
            }[kind]
        ]

    return Draft(
        "select_numbers(limit)",
        f"returns in order all numbers from {bound} to the limit, both included, that are {told}.",
        f"list numbers that are {told}",
        f'''\
import math


def fits(number: int) -> bool:
    """Tell whether a number is {told}."""
    return {test}


def select_numbers(limit: int) -> list[int]:
    """List the numbers from {bound} to limit that are {told}."""
    candidates = range({bound}, limit + 1)
    return list(filter(fits, candidates))
''',
        ("limit + 1)\n", "limit)\n"),
        [(bound,), (bound + 30,), (36,), (37,), (40,), (1,), (49,)],
        oracle,
    )


def _change(coins: tuple[int, ...], gives: str) -> Draft:
    final, told, kind = {
        "coins": ("taken", "the coins in the order they were taken", "list[int]"),
        "count": ("len(taken)", "how many coins were taken", "int"),
        "rest": ("amount", "what is left that no coin fits", "int"),
    }[gives]

    def oracle(amount: int) -> object:
        taken: list[int] = []
        for coin in sorted(coins)[::-1]:
            many, amount = divmod(amount, coin)
            taken += [coin] * many
        return {"coins": taken, "count": len(taken), "rest": amount}[gives]

    return Draft(
        "make_change(amount)",
        f"takes from an amount, again and again, the largest of the coins {', '.join(map(str, coins))} that"
        " fits, and returns"
        f" {told}.",
        "give change",
        f'''\
COINS = sorted({list(coins)!r}, reverse=True)


def make_change(amount: int) -> {kind}:
    """Take the largest coins that fit."""
    taken = []
    for coin in COINS:
        many = amount // coin
        taken.extend([coin] * many)
        amount = amount - coin * many
    return {final}
''',
        ("amount - coin * many", "amount - coin * min(many, 1)")
        if gives != "coins"
        else ("[coin] * many", "[coin] * min(many, 1)"),
        [(0,), (1,), (max(coins) * 3 + 4,), (99,), (187,)],
        oracle,
    )


def _clamp(low: int, high: int, outside: str) -> Draft:
    expression, told = {
        "clamp": (f"min(max(number, {low}), {high})", "is replaced by the nearer of the two"),
        "wrap": (f"{low} + (number - {low}) % {high - low + 1}", "goes on from the other end, as on a clock"),
        "mirror": (
            f"{low} + {high} - number if number < {low} or number > {high} else number",
            "is subtracted from their sum",
        ),
    }[outside]

    def oracle(numbers: list[int]) -> list[int]:
        def one(n: int) -> int:
            if low <= n <= high:
                return n
            if outside == "wrap":
                while not low <= n <= high:
                    n += (high - low + 1) * (1 if n < low else -1)
                return n
            return (low if n < low else high) if outside == "clamp" else high + low - n

        return [one(n) for n in numbers]

    return Draft(
        "bring_in(numbers)",
        f"returns the numbers with each that is not from {low} to {high} brought in: it {told}.",
        "keep numbers in a range",
        f'''\
from collections.abc import Sequence


def bring_in(numbers: Sequence[int]) -> list[int]:
    """Bring numbers into the range from {low} to {high}."""
    inside = []
    for number in numbers:
        moved = {expression}
        inside.append(moved)
    return inside
''',
        ("inside.append(moved)", "inside.append(abs(moved) + 1)"),
        [([low - 1, low, high, high + 1],), ([low + 3, high + 7, low - 9],), ([],), ([0, 5, 1000],)],
        oracle,
    )


def _polynomial(coefficients: tuple[int, ...], modulus: int | None) -> Draft:
    final = "value" if modulus is None else f"value % {modulus}"
    terms = " + ".join(f"{c} * x^{n}" for n, c in enumerate(coefficients))

    def oracle(x: int) -> int:
        value: int = sum(c * x**n for n, c in enumerate(coefficients))
        return value if modulus is None else value % modulus

    return Draft(
        "polynomial(x)",
        f"returns {terms}{'' if modulus is None else f', modulo {modulus}'}.",
        "evaluate a polynomial",
        f'''\
from functools import reduce

COEFFICIENTS = {coefficients!r}


def step(x: int, value: int, coefficient: int) -> int:
    """Go on by one coefficient."""
    return value * x + coefficient


def polynomial(x: int) -> int:
    """Evaluate a polynomial of degree {len(coefficients) - 1}."""
    falling = reversed(COEFFICIENTS)
    value = reduce(lambda value, coefficient: step(x, value, coefficient), falling, 0)
    return {final}
''',
        ("value * x + coefficient", "value * x - coefficient"),
        [(0,), (1,), (2,), (-3,), (10,)],
        oracle,
    )


FAMILIES = (
    Family("digits", {"base": (2, 3, 5, 7, 8, 10, 12, 16), "reduce": ("sum", "max", "len", "prod")}, _digits),
    Family(
        "checksums",
        {"weights": ((1, 3), (2, 1), (1, 2, 4), (7, 3, 1), (3, 1, 3, 7)), "modulus": (7, 9, 10, 11, 97)},
        _checksum,
    ),
    Family("number-kinds", {"kind": ("prime", "square", "divides", "coprime"), "bound": (2, 3, 4, 5, 10)}, _factors),
    Family(
        "change",
        {
            "coins": ((1, 2, 5, 10), (5, 10, 25), (1, 5, 20), (3, 7, 12), (2, 4, 8, 16), (10, 20, 50), (1, 6, 9)),
            "gives": ("coins", "count", "rest"),
        },
        _change,
    ),
    Family("ranges", {"low": (0, 1, 5), "high": (9, 12, 23), "outside": ("clamp", "wrap", "mirror")}, _clamp),
    Family(
        "polynomials",
        {
            "coefficients": ((1, 2), (3, 0, 1), (2, 5, 1), (7, 1, 0, 2), (1, 1, 1, 1), (4, 3, 2, 1)),
            "modulus": (None, 7, 10, 13),
        },
        _polynomial,
    ),
)
