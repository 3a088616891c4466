import asyncio
from pathlib import Path

from flows.serve_cleaner import Served
from infra.llm.fake import FakeBackend
from infra.llm.types import BackendUnavailable, Reply, Request
from infra.service.cleaner import TIMEOUT, UNAVAILABLE, Failure
from infra.service.wire import CleanAnswer, CleanItem, NamedValue
from tasks.cleaning.clean import Cleaner
from tasks.cleaning.config import CleaningConfig
from tasks.cleaning.private_file import read_map


class Slow(FakeBackend):
    """Never answers a text with ``slow`` in it, is not there for one with ``gone``, empties one with ``empty``."""

    def __init__(self) -> None:
        super().__init__(self._answered)

    @staticmethod
    def _answered(request: Request) -> str | Exception:
        content = request.messages[-1].content
        if "gone" in content:
            return BackendUnavailable("gone, with Ann in the message")
        return "" if "empty" in content else "somebody came."

    async def complete(self, request: Request) -> Reply:
        if "slow" in request.messages[-1].content:
            await asyncio.sleep(600)
        return await super().complete(request)


def item(text: str, report: bool = False) -> CleanItem:
    return CleanItem(text=text, instruction="Hide it.", values=(NamedValue(key="name", value="Ann"),), report=report)


async def outcomes(*items: CleanItem, pseudonyms: Path | None = None) -> list[CleanAnswer | Failure]:
    served = Served(Cleaner(Slow(), CleaningConfig()), pseudonyms, None, at_once=4)
    return await served.clean(items, asyncio.get_running_loop().time() + 0.5)


async def test_each_text_of_a_bulk_request_has_its_own_outcome() -> None:
    made = await outcomes(item("Ann came."), item("Ann slow."), item("Ann gone."), item("Ann empty."), item("..."))
    reasons = [each.reason if isinstance(each, Failure) else each.text for each in made]
    assert reasons == ["somebody came.", TIMEOUT, UNAVAILABLE, "empty_reply", "..."]
    assert not any("Ann" in each.message for each in made if isinstance(each, Failure))


async def test_a_report_is_made_where_one_is_asked_for() -> None:
    (made,) = await outcomes(item("Ann came.", report=True))
    assert isinstance(made, CleanAnswer)
    assert made.report is not None
    assert made.report["values"] == [
        {
            "key": "name",
            "value": "Ann",
            "places": [{"start": 0, "stop": 3, "text": "Ann", "fate": "abstracted", "instead": "somebody"}],
            "remaining": [],
        }
    ]


async def test_values_of_requests_are_in_the_map_before_the_model_is_asked(tmp_path: Path) -> None:
    known = tmp_path / "map.json"
    (made,) = await outcomes(item("Ann gone."), pseudonyms=known)
    assert isinstance(made, Failure)
    assert [each.value for each in read_map(known).pseudonyms] == ["Ann"]


async def test_a_health_check_is_asked_once_for_many_callers() -> None:
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        raise BackendUnavailable("gone")

    served = Served(Cleaner(Slow(), CleaningConfig()), None, check, at_once=4)
    assert await asyncio.gather(*(served.ready() for _ in range(20))) == [False] * 20
    assert len(asked) == 1
