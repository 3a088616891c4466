"""How a text longer than the context is read: windows that slide, each token scored in exactly one of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a text that the model reads at once, after the lead (BOS and prompt).

    Attributes:
        first: the first token it reads.
        scored: the first token it scores; those before it are context, scored elsewhere.
        stop: one past the last token it scores.
    """

    first: int
    scored: int
    stop: int


def plan(count: int, lead: int, context: int, stride: int) -> list[Window]:
    """Cover a text of ``count`` tokens with windows of at most ``context`` tokens, lead included.

    The first window scores all that it reads, each further one its last ``stride`` tokens, so that a token beyond the
    first window has at least ``context - stride`` tokens before it, the lead included. Each token that has anything
    before it is scored once, in reading order; the first of a text without a lead is scored by none.

    Args:
        count: N, tokens of the text.
        lead: tokens before each window: prefix and prompt.
        context: most tokens that the model reads at once.
        stride: tokens that a further window scores.

    Raises:
        ValueError: ``stride`` is not within 1 and ``context - 1``, or the lead takes more than ``context - stride``.
    """
    check(context, stride)
    if lead > context - stride:
        raise ValueError(
            f"a prompt and prefix of {lead} tokens: a context of {context} with a stride of {stride} leaves room for"
            f" {context - stride}: shorten the prompt, raise the context, or lower the stride"
        )
    room = context - lead
    begin = 0 if lead else 1
    windows = [Window(0, begin, min(count, room))] if count > begin else []
    for scored in range(room, count, stride):
        windows.append(Window(scored - (room - stride), scored, min(count, scored + stride)))
    return windows


def check(context: int, stride: int) -> None:
    """Refuse a stride that leaves a window nothing to score, or nothing to see.

    Raises:
        ValueError: it is not within 1 and ``context - 1``.
    """
    if not 1 <= stride < context:
        raise ValueError(f"stride {stride} with a context of {context} tokens: give 1 <= stride < context")
