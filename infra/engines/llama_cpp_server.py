"""``python -m infra.engines.llama_cpp_server``: one GGUF model behind the OpenAI protocol on loopback.

Run by ``infra.engines.llama_cpp``, which it tells its port, and with which it ends.
"""

import argparse
import threading
from urllib.parse import urlsplit

import xllamacpp

from infra.engines.child import Parent

_PROMPT_CACHE_MIB = 256  # llama.cpp would take 8 GiB of main memory for the prompts of idle slots


def main() -> None:
    """Load the model, serve until the parent ends or a signal comes."""
    parent = Parent()
    parser = argparse.ArgumentParser(prog="python -m infra.engines.llama_cpp_server", description=__doc__)
    parser.add_argument("--path", required=True, help="GGUF file")
    parser.add_argument("--name", required=True, help="the model's name in replies")
    parser.add_argument("--slots", type=int, required=True, help="requests worked on at once")
    parser.add_argument("--context-tokens", type=int, required=True, help="prompt and reply of one request")
    parser.add_argument("--threads", type=int, required=True)
    server = xllamacpp.Server(_parameters(parser.parse_args()))  # returns when the model is loaded
    parent.ready(port=urlsplit(server.listening_address).port or 0)
    threading.Event().wait()


def _parameters(options: argparse.Namespace) -> xllamacpp.CommonParams:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = options.path
    parameters.model_alias = {options.name}
    parameters.n_parallel = options.slots
    parameters.n_ctx = options.slots * options.context_tokens
    parameters.cpuparams.n_threads = options.threads
    parameters.cpuparams_batch.n_threads = options.threads
    parameters.cache_ram_mib = _PROMPT_CACHE_MIB
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # the system picks a free one
    parameters.endpoint_slots = False  # it would show the prompts of others
    return parameters


if __name__ == "__main__":
    main()
