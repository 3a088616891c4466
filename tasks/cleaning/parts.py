"""A text as parts that a model can read and write again in one request each: never cut silently."""

from tasks.cleaning.config import MOST_TOLD_BYTES, CleaningConfig
from tasks.cleaning.failure import CleaningFailed
from tasks.sanitization.chunks import Chunk, decompose

SPARE_TOKENS = 256
TOKENS_A_BYTE = 0.4  # of UTF-8; texts of most scripts take 0.25 to 0.35
_LIMITS = (2048, 1024, 512, 256, 128)  # code points, longest first: what ``decompose`` takes
_FRAME_TOKENS = 160  # of the prompt beside instruction and text, chat template included


def reply_tokens(text: str) -> int:
    """Return how long an answer may be that gives ``text`` again, in tokens."""
    return SPARE_TOKENS + _tokens(text)


def parts(text: str, instruction: str, config: CleaningConfig) -> list[Chunk]:
    """Cut ``text`` into as few parts as the model's window asks for; joined, they are the text again.

    Raises:
        CleaningFailed: ``too_long``: it does not fit and was not to be cut, or the window has no room for the
            smallest part beside this instruction.
    """
    whole = [Chunk(0, len(text), text)] if text else []
    room = config.context_tokens - SPARE_TOKENS - _FRAME_TOKENS - _tokens(instruction)
    size = len(text.encode("utf-8", "surrogatepass"))
    fits = 2 * _tokens(text) <= room
    if fits and (size <= config.most_bytes or not config.in_parts):
        return whole
    if not config.in_parts:
        raise CleaningFailed(
            "too_long", f"{size} bytes for a model of {config.context_tokens} tokens: let it go part by part"
        )
    room -= int(TOKENS_A_BYTE * MOST_TOLD_BYTES)
    for limit in _LIMITS:
        cut = decompose(text, limit)
        if all(2 * _tokens(chunk.text) <= room for chunk in cut):
            return cut
    raise CleaningFailed(
        "too_long", f"a model of {config.context_tokens} tokens has no room for a part beside this instruction"
    )


def _tokens(text: str) -> int:
    """Estimate from above how many tokens ``text`` takes."""
    return int(TOKENS_A_BYTE * len(text.encode("utf-8", "surrogatepass"))) + 1
