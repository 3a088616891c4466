"""Embeddings without a model: hashed words, so that texts which share words are close."""

import base64
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from infra.engines.simulator.faults import Asked
from infra.engines.simulator.tokens import count_tokens

_WORD = re.compile(r"[^\W_]+")
_COORDINATES = 8  # of a word; with few, two words rarely touch


class EmbeddingBody(BaseModel):
    """An embedding request."""

    model_config = ConfigDict(extra="ignore")

    model: str
    input: str | Annotated[list[str], Field(min_length=1, max_length=2048)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None

    @property
    def asked(self) -> Asked:
        """Say which faults make sense for this request."""
        return "vectors"

    @property
    def texts(self) -> list[str]:
        """Return the texts to embed."""
        return [self.input] if isinstance(self.input, str) else self.input

    @cached_property
    def prompt_tokens(self) -> int:
        """Count the texts, as ``usage`` does."""
        return sum(map(count_tokens, self.texts))


def embed(texts: Sequence[str], dimension: int, seed: int) -> npt.NDArray[np.float32]:
    """Return unit vectors of shape (len(texts), dimension).

    A vector is the normalised sum, over the different words of a text and the text itself, of vectors with a few
    entries of +1 and -1 at places that the word's hash names. Two texts have a cosine of about their share of common
    words.
    """
    vectors = np.stack([_bag(text, dimension, seed) for text in texts])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def _bag(text: str, dimension: int, seed: int) -> npt.NDArray[np.float64]:
    words = {*_WORD.findall(text.lower()), f"= {text}"}  # the text itself: different texts never have the same vector
    hashes = np.frombuffer(b"".join([_hash(word, seed) for word in words]), dtype=np.uint32)
    signs = 1.0 - 2.0 * (hashes >> 31)
    return np.bincount(hashes % dimension, weights=signs, minlength=dimension).astype(np.float64)


@lru_cache(maxsize=65_536)
def _hash(word: str, seed: int) -> bytes:
    return blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4 * _COORDINATES, key=seed.to_bytes(8)).digest()


def answer_embeddings(body: EmbeddingBody, dimension: int, seed: int) -> dict[str, Any]:
    """Answer an embedding request."""
    vectors = embed(body.texts, dimension, seed)
    as_base64 = body.encoding_format == "base64"
    return {
        "object": "list",
        "model": body.model,
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": base64.b64encode(vector.tobytes()).decode() if as_base64 else vector.tolist(),
            }
            for index, vector in enumerate(vectors)
        ],
        "usage": {"prompt_tokens": body.prompt_tokens, "total_tokens": body.prompt_tokens},
    }
