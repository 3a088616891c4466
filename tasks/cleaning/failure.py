"""Why a text was not cleaned: nothing is passed on then."""

_ADVICE = {
    "cut_off": "the model wrote until its token limit: it has not learnt to stop, or writes more than the text",
    "empty_reply": "the model answered nothing",
    "empty_chunk": "the model left nothing of the text",
    "refusal": "the model refused",
    "wrapped": "the model wrote more than the text: a remark, a fence, marks or its own reasoning",
    "leaked_markup": "the model wrote more than the text: its own reasoning, or marks of a chat",
    "invalid_reply": "the model's answer has characters that no text may hold",
    "text_shrunk": "the model left next to nothing of the text",
    "text_unrelated": "no word of the text is in the model's answer",
    "text_grown": "the model wrote much more than the text: something else, or remarks",
    "text_added": "the model wrote words where there were none",
    "prompt_cut": "the server read less than it was sent: its window is smaller than --context-tokens says",
    "request_rejected": "the model takes no such request: the text is too long for it, or writes out one of its special"
    " tokens",
    "too_long": "the text is too long for the model, and was not to be cut",
    "not_json": "the line is not JSON",
    "no_text": "the line has no text under that name",
    "not_utf8": "the file is no text in UTF-8",
    "unicode": "the text has half a surrogate pair, which no model can be sent",
}


class CleaningFailed(Exception):
    """A text that was not cleaned.

    Attributes:
        reason: a short name to count by.
        detail: for the owner of the text alone: it may quote it.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {advice(reason)}")  # without the detail: exceptions reach logs
        self.reason, self.detail = reason, detail


def advice(reason: str) -> str:
    """Say what a reason means, in words that tell nothing of the text."""
    return _ADVICE.get(reason, "the model's answer cannot be used")
