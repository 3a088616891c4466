"""One text, cleaned by one request: whole where it fits, else part by part, each told what became of those before."""

from collections.abc import Sequence
from dataclasses import dataclass

from infra.llm.types import Backend, Reply, ReplyUnusable, Request, RequestRejected, Sampling
from tasks.cleaning.config import CleaningConfig
from tasks.cleaning.diff import Change, changes, has_word
from tasks.cleaning.failure import CleaningFailed
from tasks.cleaning.parts import parts, reply_tokens
from tasks.cleaning.prompts import PROMPT_SHAS
from tasks.cleaning.pseudonyms import Pseudonym, disguise
from tasks.cleaning.reply import check_clean, in_place_of
from tasks.cleaning.told import instruction_for
from tasks.evaluation.prompts import SANITIZE
from tasks.events import EventLog, event_key
from tasks.synthesis.seeds import call_seed

_WARMER = 0.3  # of later attempts: at 0 the same refusal would come back


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the original from ``start`` on, and the clean text in its place."""

    start: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text after it was cleaned; the parts joined are the two texts."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The clean text."""
        return "".join(part.after for part in self.parts)


@dataclass(frozen=True, slots=True)
class Cleaner:
    """Who cleans, and how.

    Attributes:
        backend: the model.
        config: see there.
        pseudonyms: put in place of their values before the model reads a text.
    """

    backend: Backend
    config: CleaningConfig
    pseudonyms: tuple[Pseudonym, ...] = ()

    async def clean(self, name: str, text: str, instruction: str, log: EventLog) -> Cleaned:
        """Clean ``text`` as ``instruction`` asks.

        A part without letters and digits has nothing to hide and is passed on as it is.

        Args:
            name: of the text, unique in ``log``; the model never sees it.
            text: any text.
            instruction: in a user's words.
            log: of accepted parts: one that is in it is not asked for again.

        Raises:
            CleaningFailed: a part was not cleaned: then nothing is.
            BackendUnavailable: the model does not answer.
        """
        _check_unicode(text + instruction)
        name = name.encode("utf-8", "backslashreplace").decode()  # of a file, whose name may be in no encoding
        hidden, asked = disguise(text, self.pseudonyms), disguise(instruction, self.pseudonyms).text
        cleaned: list[Part] = []
        earlier: list[Change] = []
        for number, part in enumerate(parts(hidden.text, asked, self.config)):
            after = part.text
            if has_word(part.text):
                codes = list(dict.fromkeys(code for *_, code in hidden.replaced if code in part.text))
                request = instruction_for(asked, part.text, earlier, codes)
                after = await self._part(f"{name}-{number}", part.text, request, log)
                earlier += changes(part.text, after)
            start, stop = hidden.origin(part.start), hidden.origin(part.stop)
            cleaned.append(Part(start, text[start:stop], after))
        return Cleaned(tuple(cleaned))

    async def _part(self, name: str, text: str, instruction: str, log: EventLog) -> str:
        key = event_key(name, "clean", text, instruction, self.backend.model, PROMPT_SHAS, self.config.model_dump())

        async def produce() -> bytes:
            return (await self._asked(name, text, instruction)).encode()

        return (await log.once(key, produce)).decode()

    async def _asked(self, name: str, text: str, instruction: str) -> str:
        core = text.strip()
        messages = SANITIZE.render(instruction=instruction, text=core)
        prompt_words = sum(len(message.content.split()) for message in messages)
        temperature, most_tokens = self.config.temperature, reply_tokens(core)
        failure = CleaningFailed("not_asked", f"attempts = {self.config.attempts}")
        for attempt in range(self.config.attempts):
            seed = call_seed(self.config.seed, name, "clean", attempt)
            sampling = Sampling(temperature=temperature, max_tokens=most_tokens, seed=seed)
            tags = {"step": "clean", "attempt": str(attempt)}
            reply = await self._answer(Request(messages, sampling, None, tags))
            try:
                return in_place_of(text, check_clean(core, reply, prompt_words=prompt_words))
            except ReplyUnusable as error:
                failure = CleaningFailed(error.reason, str(error))
                if error.reason == "cut_off":  # and not beyond all measure
                    most_tokens = min(2 * most_tokens, max(most_tokens, self.config.context_tokens // 2))
                temperature = max(temperature, _WARMER)
        raise failure

    async def _answer(self, request: Request) -> Reply:
        try:
            return await self.backend.complete(request)
        except RequestRejected as error:
            raise CleaningFailed("request_rejected", str(error)) from error


def changes_of(cleaned: Cleaned) -> list[Change]:
    """Return what was changed, with places in the whole original."""
    return [
        Change(part.start + each.start, part.start + each.stop, each.before, each.after)
        for part in cleaned.parts
        for each in changes(part.before, part.after)
    ]


def original(parts: Sequence[Part]) -> str:
    """Return the text before."""
    return "".join(part.before for part in parts)


def _check_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CleaningFailed("unicode", f"half a surrogate pair at character {error.start}") from None
