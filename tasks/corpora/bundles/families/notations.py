"""Tasks on nested notations: postfix expressions and brackets."""

from tasks.corpora.bundles.draft import Draft, Family


def _postfix(signs: str, empty: int) -> Draft:
    names = {"+": "add", "-": "sub", "*": "mul", "%": "mod"}
    table = ", ".join(f'"{sign}": operator.{names[sign]}' for sign in signs)

    def oracle(text: str) -> int:
        stack: list[int] = []
        for word in text.split():
            if word in signs:
                b, a = stack.pop(), stack.pop()
                stack.append({"+": a + b, "-": a - b, "*": a * b, "%": a % b if b else 0}[word])
            else:
                stack.append(int(word))
        return stack[-1] if stack else empty

    first, last = signs[0], signs[-1]
    return Draft(
        "evaluate(text)",
        f"evaluates integers and the operators {', '.join(f'`{sign}`' for sign in signs)} in postfix"
        " notation, separated by"
        f" spaces; an empty text gives {empty}.",
        "calculate postfix expressions",
        f'''\
import operator

OPERATORS = {{{table}}}


def evaluate(text: str) -> int:
    """Evaluate a postfix expression."""
    stack = [{empty}]
    for word in text.split():
        if word in OPERATORS:
            right = stack.pop()
            left = stack.pop()
            stack.append(OPERATORS[word](left, right))
        else:
            stack.append(int(word))
    return stack[-1]
''',
        ("(left, right)", "(right, left + 1)"),
        [("",), (f"7 3 {first}",), (f"20 6 {last} 5 {first}",), (f"9 4 2 {first} {last}",), ("12",)],
        oracle,
    )


def _brackets(pairs: tuple[str, ...], gives: str) -> Draft:
    table = ", ".join(f'"{pair[1]}": "{pair[0]}"' for pair in pairs)
    told, final, kind = {
        "balanced": ("whether all brackets are closed in order", "not stack and not wrong", "bool"),
        "depth": (
            "how deep they are nested at most, -1 if one is not closed in order",
            "-1 if stack or wrong else deepest",
            "int",
        ),
    }[gives]

    def oracle(text: str) -> object:
        deepest = max(
            sum((c in [p[0] for p in pairs]) - (c in [p[1] for p in pairs]) for c in text[:n])
            for n in range(len(text) + 1)
        )
        left = "".join(c for c in text if any(c in pair for pair in pairs))
        while any(pair in left for pair in pairs):
            for pair in pairs:
                left = left.replace(pair, "")
        return (not left) if gives == "balanced" else (-1 if left else deepest)

    a, b = pairs[0], pairs[-1]
    return Draft(
        "check_brackets(text)",
        f"looks at the brackets {', '.join(f'`{pair}`' for pair in pairs)} of a text and returns {told}.",
        "check nesting",
        f'''\
from collections import deque

CLOSING = {{{table}}}


def check_brackets(text: str) -> {kind}:
    """Look at the nesting of brackets."""
    opening = set(CLOSING.values())
    stack: deque[str] = deque()
    wrong = False
    deepest = 0
    for character in text:
        if character in opening:
            stack.append(character)
            deepest = max(deepest, len(stack))
        elif character in CLOSING:
            wrong = wrong or not stack or stack.pop() != CLOSING[character]
    return {final}
''',
        ("stack.pop() != CLOSING", "stack.pop() == CLOSING"),
        [(a + b,), (f"x{a[0]}{b[0]}y{b[1]}{a[1]}",), (f"{a[0]}{a[0]}z{a[1]}",), (a[1] + a[0],), ("plain",)],
        oracle,
    )


FAMILIES = (
    Family("postfix", {"signs": ("+-", "+*", "-*", "+-*", "*%", "+%", "-%"), "empty": (0, 1, -1)}, _postfix),
    Family(
        "brackets",
        {
            "pairs": (
                ("()",),
                ("[]",),
                ("{}",),
                ("()", "[]"),
                ("()", "{}"),
                ("[]", "{}"),
                ("()", "[]", "{}"),
                ("<>", "()"),
                ("<>",),
            ),
            "gives": ("balanced", "depth"),
        },
        _brackets,
    ),
)
