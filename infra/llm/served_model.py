"""Which model a server of the OpenAI protocol has, and how much it reads: vLLM says so in its list of models."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from infra.llm.types import BackendUnavailable

ANSWER_WITHIN_S = 20.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What a server says of its model.

    Attributes:
        id: what requests call it.
        root: where the server has it from: a folder there, or a name on the hub.
        max_tokens: most tokens of a request, written ones included; None where it does not say.
    """

    id: str
    root: str
    max_tokens: int | None


def served_model(base_url: str, key: str) -> ServedModel:
    """Ask a server for the one model that it has.

    Raises:
        BackendUnavailable: it does not answer, does not take the key, or has no model.
    """
    import openai  # here: it takes a second

    is_here = urlsplit(base_url).hostname in _LOOPBACK
    with (
        openai.DefaultHttpxClient(trust_env=not is_here) as http,  # a proxy cannot reach a server on loopback
        openai.OpenAI(
            api_key=key, base_url=base_url, max_retries=0, timeout=ANSWER_WITHIN_S, http_client=http
        ) as client,
    ):
        try:
            models = client.models.list().data
        except openai.OpenAIError as error:
            reason = error.__cause__ or error
            raise BackendUnavailable(f"{base_url}: no list of models ({reason}): is a server there?") from error
    if not models:
        raise BackendUnavailable(f"{base_url}: the server has no model")
    first = models[0]
    said = first.model_extra or {}
    limit = said.get("max_model_len")
    return ServedModel(first.id, str(said.get("root") or first.id), limit if isinstance(limit, int) else None)
