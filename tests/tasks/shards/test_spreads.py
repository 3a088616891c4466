"""What the manifest says of the answers of a shard."""

from infra.histogram import SECONDS, TOKENS
from infra.llm.types import Message, Reply, Request, Usage
from tasks.shards.spreads import Spreads


def answered(spreads: Spreads, step: str, seconds: float, prompt: int, completion: int) -> None:
    request = Request((Message("user", "?"),), tags={"step": step})
    spreads.add(request, Reply("text", "stop", Usage(prompt, 0, completion, 0), "m", latency_s=seconds))


def test_answers_are_counted_by_the_kind_of_their_step_and_the_model() -> None:
    spreads = Spreads()
    answered(spreads, "revise-1", 0.3, 100, 20)
    answered(spreads, "revise-2", 3.0, 300, 20)
    answered(spreads, "draft", 999.0, 16, 40_000)
    told = spreads.to_json()
    draft, revise = told["steps"]
    assert [(each["step"], each["model"]) for each in told["steps"]] == [("draft", "m"), ("revise", "m")]
    assert {name: sum(revise[name]["counts"]) for name in told["bounds"]} == dict.fromkeys(told["bounds"], 2)
    assert revise["seconds"]["total"] == 3.3
    assert revise["seconds"]["counts"][SECONDS.index(0.5)] == 1
    assert revise["seconds"]["counts"][SECONDS.index(5.0)] == 1
    assert revise["prompt"]["counts"][TOKENS.index(128)] == revise["prompt"]["counts"][TOKENS.index(512)] == 1
    assert draft["prompt"]["counts"][0] == 1  # a bound belongs to its bucket
    assert draft["completion"]["counts"][-1] == draft["seconds"]["counts"][-1] == 1  # more than the last bound
