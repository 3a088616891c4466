import pickle

import pytest
from pydantic import TypeAdapter, ValidationError

from infra.llm.connect import EmbedderConfig, Endpoint, MiniLM, OpenAIEmbedding, connect
from infra.llm.prices import Price
from infra.llm.types import BackendGone


def test_an_endpoint_travels_by_pickle_and_by_json_without_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", "s3cret")
    endpoint = Endpoint(model="m", api_key_env="ACME_KEY", price=Price(prompt=1, cached=1, completion=1))
    assert pickle.loads(pickle.dumps(endpoint)) == endpoint
    assert Endpoint.model_validate_json(endpoint.model_dump_json()) == endpoint
    assert b"s3cret" not in pickle.dumps(endpoint)
    assert len(pickle.dumps(endpoint)) < 2000


def test_a_missing_key_is_final_and_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACME_KEY", raising=False)
    with pytest.raises(BackendGone, match="ACME_KEY"):
        connect(Endpoint(model="m", api_key_env="ACME_KEY"))


def test_a_misspelt_field_is_an_error() -> None:
    with pytest.raises(ValidationError, match="max_inflight"):
        Endpoint.model_validate({"model": "m", "max_inflight": 3})


@pytest.mark.parametrize("wrong", [{"base_url": "10.0.0.1:8000/v1"}, {"replicas": ["10.0.0.2:8000/v1"]}])
def test_an_address_without_a_protocol_is_refused_where_it_is_written(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="https"):
        Endpoint.model_validate({"model": "m", **wrong})


def test_the_kind_of_an_embedder_decides_its_fields() -> None:
    adapter: TypeAdapter[MiniLM | OpenAIEmbedding] = TypeAdapter(EmbedderConfig)
    assert adapter.validate_python({"kind": "minilm", "threads": 2}) == MiniLM(threads=2)
    remote = adapter.validate_python({"kind": "openai", "endpoint": {"model": "e"}, "dimension": 8})
    assert remote == OpenAIEmbedding(endpoint=Endpoint(model="e"), dimension=8)
