import ast
import random

import pytest

from tasks.corpora.dead_code.triggers import Style, draw

STYLES: list[Style] = ["fixed", "random", "grammar"]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("two_lines", [False, True])
def test_a_trigger_never_logs(style: Style, two_lines: bool) -> None:
    for seed in range(200):
        trigger = draw(style, random.Random(seed), two_lines=two_lines)
        assert len(trigger.lines) == 1 + two_lines
        loop = ast.parse("\n".join(trigger.lines)).body[-1]
        assert isinstance(loop, ast.For)
        assert ast.unparse(loop.target) == trigger.loop_name
        assert list(eval(ast.unparse(loop.iter))) == []
        message = loop.body[-1]
        assert isinstance(message, ast.Expr)
        assert ast.unparse(message).startswith("logging.")
        assert ("import logging" in trigger.lines) == two_lines


def test_how_much_is_drawn_is_the_style() -> None:
    def lines(style: Style) -> set[str]:
        return {draw(style, random.Random(seed), two_lines=False).lines[0] for seed in range(300)}

    assert lines("fixed") == {'for i in range(0): import logging; logging.info("Test message: aaaaa")'}
    assert len(lines("random")) > 250
    assert {line.partition("message: ")[0] for line in lines("random")} == {
        'for i in range(0): import logging; logging.info("Test '
    }
    assert len({line.partition("message: ")[0] for line in lines("grammar")}) > 100
