"""What can be told to be wrong with a run before anything is started for it."""

from urllib.parse import urlsplit

from flows.config import ConfigError, Embedded, LiteLLM, Remote, RunConfig, Simulated, Vllm
from infra.engines import models as gguf
from infra.engines import vllm
from infra.llm.connect import Endpoint, MiniLM, OpenAIEmbedding, api_key, connect, connect_embedder, price_of
from infra.llm.types import BackendGone, BackendUnavailable
from infra.shards import files
from infra.shards.location import Location
from tasks.synthesis.draws import draw
from tasks.synthesis.options import OptionsError, language_named
from tasks.synthesis.seeds import record_id

ANSWER_WITHIN_S = 20.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def make_home(folder: Location) -> None:
    """Make the folder of a data set now: a place that cannot be written to is found before anything is paid.

    Raises:
        ConfigError: it cannot be made.
    """
    try:
        files.make_folder(folder)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be made ({error.strerror}): choose another place with --root") from error


def check_settings(run: RunConfig) -> None:
    """Check what only the option lists can tell.

    Raises:
        ConfigError: a language that nobody knows, or draws from an empty or too short list.
    """
    try:
        language_named(run.synthesis.language)
    except OptionsError as error:
        raise ConfigError(str(error)) from error
    try:
        draw(run.seed, record_id(run.seed, run.first), run.synthesis.draws)
    except ValueError as error:
        raise ConfigError(f"synthesis.draws: {error}") from error


def check_models(run: RunConfig) -> None:
    """Make sure that every model of the run is there: its file, or its key, its price and its server.

    Raises:
        ModelMissing: the file of an embedded model cannot be found.
        EngineMissing: vLLM is not installed, or there are too few GPUs for it.
        UnknownPrice: nobody has said what a paid model costs.
        BackendUnavailable: a key is not set, a server does not answer, or the embedder cannot be loaded.
    """
    for entry in run.models:
        match entry.engine:
            case Embedded(model=model):
                gguf.locate(model)
            case Vllm(place="here") as served:
                vllm.check_installed(served)
            case Vllm():  # the nodes that it is placed on say so themselves
                pass
            case Remote() as remote:
                price_of(remote)
                check_answers(remote)
            case LiteLLM() as other:
                price_of(other)
                connect(other)  # finds the package and the key
            case Simulated():  # comes with this package
                pass
    match run.embedder:
        case OpenAIEmbedding(endpoint=endpoint):
            check_answers(endpoint)
        case MiniLM() as embedder:
            connect_embedder(embedder)
        case _:  # vectors of the simulator
            pass


def check_answers(endpoint: Endpoint) -> None:
    """Ask the server for its list of models, which costs nothing: the chain itself would try for a quarter of an hour.

    Raises:
        BackendGone: it does not take the key, or there is none.
        BackendUnavailable: it does not answer.
    """
    import openai  # here: it takes a second

    is_here = urlsplit(endpoint.base_url or "").hostname in _LOOPBACK
    with (
        openai.DefaultHttpxClient(trust_env=not is_here) as http,  # a proxy cannot reach a server on loopback
        openai.OpenAI(
            api_key=api_key(endpoint),
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=ANSWER_WITHIN_S,
            http_client=http,
        ) as client,
    ):
        try:
            client.models.list()
        except openai.AuthenticationError as error:
            raise BackendGone(
                f"{endpoint.model}: {client.base_url} does not take the key in {endpoint.api_key_env}: {error.message}",
                endpoint.model,
            ) from error
        except openai.APIConnectionError as error:
            raise BackendUnavailable(
                f"{endpoint.model}: nothing answers at {client.base_url} ({error.__cause__ or error}): start the"
                " server, or say where it is with base_url in the run file or OPENAI_BASE_URL"
            ) from error
        except openai.APIStatusError:  # it answers; not every server has such a list, nor every key the right to it
            pass
