"""A backend in process: the unit tests of a chain script its answers with a function."""

from collections.abc import Callable
from typing import Self

from infra.llm.types import Reply, Request, Usage

Answer = Callable[[Request], "Reply | Exception | str"]


class FakeBackend:
    """Answers each request with what ``answer`` returns for it.

    A ``Reply`` is passed on as it is, an exception is raised, a string becomes the text of a finished reply whose usage
    counts words for tokens. Every request is kept in ``requests``, in the order of arrival.
    """

    def __init__(self, answer: Answer, model: str = "fake") -> None:
        self.requests: list[Request] = []
        self._answer = answer
        self._model = model

    @property
    def model(self) -> str:
        """The name it goes by."""
        return self._model

    async def complete(self, request: Request) -> Reply:
        """Answer ``request`` as scripted."""
        self.requests.append(request)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        prompt = sum(len(message.content.split()) for message in request.messages)
        return Reply(answer, "stop", Usage(prompt=prompt, completion=len(answer.split())), self._model)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None
