import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import numpy as np
import pytest

from infra.llm.connect import MiniLM, connect_embedder
from infra.llm.types import Embedder, RequestRejected

CAT, KITTEN, TAX = "The cat sat on the mat.", "A kitten rested on the rug.", "Quarterly tax filings are due on Friday."


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    async with connect_embedder(MiniLM()) as embedder:
        yield embedder


async def test_similar_sentences_are_closer_than_different_ones(embedder: Embedder) -> None:
    vectors = await embedder.embed([CAT, KITTEN, TAX])
    assert vectors.shape == (3, embedder.dimension) == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    cosine = vectors @ vectors.T
    assert cosine[0, 1] > 0.5 > 0.2 > cosine[0, 2]


async def test_a_batch_equals_its_texts_one_by_one(embedder: Embedder) -> None:
    texts = [CAT, "", "word " * 600, TAX]
    together = await embedder.embed(texts)
    alone = np.concatenate([await embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


async def test_the_end_of_a_long_text_counts(embedder: Embedder) -> None:
    plain, ending = await embedder.embed(
        ["The weather is mild. " * 120, "The weather is mild. " * 60 + (TAX + " ") * 40]
    )
    assert plain @ ending < 0.9


async def test_a_long_text_is_the_mean_of_its_equal_chunks(embedder: Embedder) -> None:
    words = ["cat"] * 150 + ["tax"] * 150  # one token each: two chunks of 150
    cats, taxes, both = await embedder.embed([" ".join(words[:150]), " ".join(words[150:]), " ".join(words)])
    mean = (cats + taxes) / 2
    np.testing.assert_allclose(both, mean / np.linalg.norm(mean), atol=1e-5)


async def test_the_event_loop_goes_on_meanwhile(embedder: Embedder) -> None:
    embedding = asyncio.create_task(embedder.embed(["word " * 200] * 4))
    turns = 0
    while not embedding.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 10


async def test_a_lone_surrogate_is_the_rows_fault(embedder: Embedder) -> None:
    with pytest.raises(RequestRejected, match="UTF-8"):
        await embedder.embed(["a\ud800b"])


def test_torch_is_not_imported() -> None:
    code = "import sys; from infra.llm.minilm import MiniLMEmbedder; MiniLMEmbedder(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
