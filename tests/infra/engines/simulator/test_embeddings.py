import base64

import numpy as np
import numpy.typing as npt
import orjson

from infra.engines.simulator.embeddings import embed
from tests.infra.engines.simulator.conftest import Serve


def test_vectors_are_of_unit_length_and_depend_on_text_and_seed_alone() -> None:
    vectors = embed(["a letter", "", "서울", "a letter"], 384, seed=1)
    assert vectors.shape == (4, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(vectors[0], vectors[3])
    assert not np.array_equal(vectors[0], embed(["a letter"], 384, seed=2)[0])


def test_the_more_words_two_texts_share_the_closer_they_are() -> None:
    words = [f"word{number}" for number in range(100)]
    texts = [" ".join(words[start : start + 50]) for start in (0, 10, 25, 50)]
    cosines = embed(texts, 384, seed=0) @ embed(texts[:1], 384, seed=0)[0]
    np.testing.assert_allclose(cosines, [1, 0.78, 0.49, 0], atol=0.2)  # 50, 40, 25, 0 of 51 common words
    assert list(cosines) == sorted(cosines, reverse=True)


async def test_both_encodings_hold_the_same_vectors(serve: Serve) -> None:
    client = await serve(dimension=16)
    answers = {}
    for encoding in ("float", "base64"):
        body = {"model": client.model, "input": ["one two", "three"], "encoding_format": encoding}
        _, _, answers[encoding] = await client.post("v1/embeddings", orjson.dumps(body))
    plain: npt.NDArray[np.float32] = np.array([item["embedding"] for item in answers["float"]["data"]], np.float32)
    packed = [np.frombuffer(base64.b64decode(item["embedding"]), np.float32) for item in answers["base64"]["data"]]
    np.testing.assert_array_equal(plain, packed)
    np.testing.assert_array_equal(plain, embed(["one two", "three"], 16, seed=0))
    assert answers["float"]["usage"] == {"prompt_tokens": 3, "total_tokens": 3}


async def test_another_dimension_than_the_configured_is_refused(serve: Serve) -> None:
    client = await serve(dimension=16)
    body = orjson.dumps({"model": client.model, "input": "one", "dimensions": 32})
    status, _, answer = await client.post("v1/embeddings", body)
    assert (status, "32" in answer["error"]["message"]) == (400, True)
