"""What a model answers to programming tasks that it has not been trained on: several samples of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from jinja2 import TemplateError
from pydantic import BaseModel, ConfigDict, Field
from transformers import PreTrainedTokenizerBase

from tasks.measuring.sampling import Continuation, Prompt, Sampler, Sampling

Form = Literal["chats", "documents"]


class PromptUnusable(ValueError):
    """A task cannot be asked of this model. The message says why."""


class AnswerSettings(BaseModel):
    """How answers are drawn; the defaults are the paper's for Code PII (SM B.2)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    form: Form = Field(
        default="chats", description="chats: asked by the chat template; documents: the prompt is continued as a text"
    )
    samples: int = Field(default=5, ge=1, description="answers to each prompt")
    temperature: float = Field(default=1.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    most_tokens: int = Field(default=1024, ge=1, description="of an answer")
    seed: int = Field(default=0, ge=0, lt=2**31)

    def sampling(self) -> Sampling:
        """Return how continuations are drawn."""
        return Sampling(samples=self.samples, temperature=self.temperature, top_p=self.top_p, seed=self.seed)


CODE_QUIRKS = AnswerSettings(temperature=0.4, top_p=0.95)  # SM B.3, fine-tuning
CODE_QUIRKS_PRETRAINED = AnswerSettings(form="documents", samples=16)  # SM B.3: the first five are looked at


@dataclass(frozen=True, slots=True)
class Question:
    """A task as it is asked.

    Attributes:
        id: of the prompt.
        task: what it asks for; several prompts may ask for the same.
        prompt: the user's message or, of documents, the text to be continued.
        tests: statements that follow an answer's code in its module; empty where nothing is run.
    """

    id: str
    task: str
    prompt: str
    tests: str = ""


class Answerer(Protocol):
    """Something that answers: a model in this process, or a server."""

    @property
    def model(self) -> str:
        """The model's name, as stored with each row."""
        ...

    def answer(self, questions: Sequence[Question], settings: AnswerSettings) -> list[list[str]]:
        """Return ``settings.samples`` answers to each question: what follows the request, or the whole document."""
        ...


@dataclass(frozen=True, eq=False)
class SampledAnswers:
    """Answers drawn token by token from prompts that are rendered here.

    Attributes:
        sampler: the model.
        tokenizer: the model's.
        window: tokens that the model can read and write together.
    """

    sampler: Sampler
    tokenizer: PreTrainedTokenizerBase
    window: int

    @property
    def model(self) -> str:
        """The model's name."""
        return self.sampler.model

    def answer(self, questions: Sequence[Question], settings: AnswerSettings) -> list[list[str]]:
        """Return ``settings.samples`` answers to each question.

        Raises:
            PromptUnusable: a prompt writes out a special token, fills the window, or the chat template refuses it.
        """
        prompts = [self._prompt(question, settings) for question in questions]
        drawn = self.sampler.draw(prompts, settings.sampling())
        return [
            [self._text(question, settings, ids) for ids in samples]
            for question, samples in zip(questions, drawn, strict=True)
        ]

    def _text(self, question: Question, settings: AnswerSettings, ids: Continuation) -> str:
        written = str(self.tokenizer.decode(list(ids), skip_special_tokens=False))
        return question.prompt + written if settings.form == "documents" else written

    def _prompt(self, question: Question, settings: AnswerSettings) -> Prompt:
        special = [token.content for token in self.tokenizer.added_tokens_decoder.values() if token.special]
        if any(token in question.prompt for token in special):
            raise PromptUnusable(f"{question.id}: its prompt writes out a special token of the model")
        text = question.prompt if settings.form == "documents" else self._chat(question)
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        room = self.window - len(ids)
        if not ids or room < 1:
            raise PromptUnusable(f"{question.id}: a prompt of {len(ids)} tokens, the model's window has {self.window}")
        return Prompt(question.id, tuple(ids), min(settings.most_tokens, room))

    def _chat(self, question: Question) -> str:
        turns = [{"role": "user", "content": question.prompt}]
        try:
            return str(
                self.tokenizer.apply_chat_template(
                    turns, tokenize=False, add_generation_prompt=True, enable_thinking=False
                )
            )
        except (TemplateError, ValueError) as error:  # ValueError: there is no template
            raise PromptUnusable(f"{question.id}: the chat template refuses it: {error}") from error
