"""How many tokens a call will take, learned from those before it: what a quota of tokens has to set aside."""

from dataclasses import dataclass, field

from infra.llm.retry import Expected, Size
from infra.llm.types import Reply, Request

CHARACTERS_A_TOKEN = 4  # to begin with
FIRST_REPLY_TOKENS = 256  # of a step that was never answered, if it may write so many
_WEIGHT = 0.1  # of the newest answer in a running mean


@dataclass(slots=True)
class Lengths:
    """Running means over the answers of one model: tokens a character of prompt, tokens a reply of each step."""

    _tokens_a_character: float = 1 / CHARACTERS_A_TOKEN
    _replies: dict[str, float] = field(default_factory=dict)

    def size_of(self, request: Request) -> Size[Reply]:
        """Return what ``request`` will take by what is known when it is sent, and how to learn from its answer."""
        characters = sum(len(message.content) for message in request.messages)
        step = request.tags.get("step", "").partition("-")[0]

        def expected() -> Expected:
            prompt = characters * self._tokens_a_character
            first = min(FIRST_REPLY_TOKENS, request.sampling.max_tokens)
            return Expected(round(prompt), round(prompt + self._replies.get(step, first)))

        def used(reply: Reply) -> int:
            usage = reply.usage
            if characters:
                self._tokens_a_character += _WEIGHT * (usage.prompt / characters - self._tokens_a_character)
            mean = self._replies.get(step, usage.completion)
            self._replies[step] = mean + _WEIGHT * (usage.completion - mean)
            return usage.prompt + usage.completion

        return Size(expected, used)
