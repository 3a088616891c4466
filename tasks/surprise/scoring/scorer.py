"""What scoring takes and gives: texts and passes in, token ids with offsets and NLLs out (SM section 2, D.4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from tasks.surprise.documents import Interval
from tasks.surprise.policy import Conditioning, Contrasted, Prompted, Reference, Unprompted
from tasks.surprise.rows import check_sizes

F32 = npt.NDArray[np.float32]
I32 = npt.NDArray[np.int32]
PassName = Literal["plain", "prompted", "violating", "compliant"]


@dataclass(frozen=True, slots=True)
class Pass:
    """One reading of every text by the reference model.

    Attributes:
        name: under which the scores are found; ``plain`` is the pass without a prompt.
        prompt: what the model reads before each text, and before each window of a long one; its own tokens are not
            scored. It is tokenized on its own, so that every pass has the same tokens of the text; end it as the text
            should begin (a line break).
    """

    name: PassName
    prompt: str | None = None

    def __post_init__(self) -> None:
        if (self.name == "plain") is not (self.prompt is None):
            raise ValueError(f"pass {self.name!r}: every pass but 'plain' has a prompt, and 'plain' has none")
        if self.prompt == "":
            raise ValueError(f"pass {self.name!r}: its prompt is empty: use the plain pass")


PLAIN = Pass("plain")


def passes_of(conditioning: Conditioning) -> tuple[Pass, ...]:
    """Return the passes that a policy's scores are made of: one, or the two of a contrast."""
    match conditioning:
        case Unprompted():
            return (PLAIN,)
        case Prompted(prompt=prompt):
            return (Pass("prompted", prompt),)
        case Contrasted(violating=violating, compliant=compliant):
            return Pass("violating", violating), Pass("compliant", compliant)


@dataclass(frozen=True, slots=True)
class Text:
    """A text to score.

    Attributes:
        text: as scored.
        markup: where a chat template wrote, in reading order. Only there the text of a special token means that token:
            ``<|im_end|>`` in a message that a person typed is six tokens of text.
    """

    text: str
    markup: tuple[Interval, ...] = ()


@dataclass(frozen=True, eq=False)
class Tokenized:
    """The N tokens of a text, and nothing before them.

    Attributes:
        ids: shape (N,).
        starts: first code point of each token as the tokenizer reports it, shape (N,); ``offsets.cover`` repairs them.
        ends: one past its last, shape (N,).
        covered: code points of the text that the tokens stand for: all of them, nothing is cut.
    """

    ids: I32
    starts: I32
    ends: I32
    covered: int

    def __post_init__(self) -> None:
        check_sizes("token ids", self.ids.size, {"starts": self.starts.size, "ends": self.ends.size})


@dataclass(frozen=True, eq=False)
class Scored(Tokenized):
    """The tokens of a text with their scores.

    Attributes:
        nll: for each pass ``-log p(token | prefix, prompt, tokens before it)`` in nats, shape (N,). NaN where there is
            none: the first token of a text that nothing stands before.
    """

    nll: Mapping[PassName, F32]

    def __post_init__(self) -> None:
        Tokenized.__post_init__(self)
        check_sizes("token ids", self.ids.size, {f"NLL of {name}": nll.size for name, nll in self.nll.items()})


class Scorer(Protocol):
    """A reference model that scores texts."""

    @property
    def reference(self) -> Reference:
        """Model and tokenizer, as policies and score shards state them."""
        ...

    @property
    def prefix(self) -> tuple[int, ...]:
        """Token ids that stand before every text, prompt and window: BOS, or none where the tokenizer has none.

        A chat template that writes BOS itself is not given a second one.
        """
        ...

    @property
    def context(self) -> int:
        """Most tokens the model reads at once, prefix and prompt included; longer texts slide."""
        ...

    @property
    def stride(self) -> int:
        """Tokens a window of a long text scores: each sees at least ``context - stride`` tokens before it."""
        ...

    def tokenize(self, texts: Sequence[Text]) -> list[Tokenized]:
        """Tokenize without scoring.

        Raises:
            ValueError: a text is not valid Unicode (a lone surrogate); its place is named.
        """
        ...

    def score(self, texts: Sequence[Text], passes: Sequence[Pass]) -> Iterator[Scored]:
        """Score each text in each pass; results come in the order of ``texts``, every token is scored exactly once.

        What a text's scores are does not depend on what it is scored with.

        Raises:
            ValueError: a text is not valid Unicode, a pass is there twice, or a prompt leaves no room in the context.
        """
        ...
