"""``privasis serve``: the cleaner as an HTTP service, for callers on this machine unless there is a token."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from flows.cleaning_model import Ready, model_asked, ready
from flows.config import ConfigError
from flows.serve_cleaner import Served
from infra.service.access import NotProtected, check_protected, is_loopback
from infra.service.app import create_app
from infra.service.limits import ServiceLimits
from infra.service.serve import serve
from tasks.cleaning.clean import Cleaner
from tasks.cleaning.config import CleaningConfig
from tasks.cleaning.private_file import MapUnusable, map_with

# A caller waits: what does not answer now is told at once. A batch would try for a quarter of an hour.
_PATIENCE = {"max_attempts": 2, "max_wait_s": 10.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeFlags:
    """What a person said on the command line."""

    host: str
    port: int
    token_env: str | None
    pseudonyms: Path | None
    model: str | None
    config: Path | None
    base_url: str | None
    context_tokens: int | None


def run(flags: ServeFlags) -> None:
    """Serve until a signal comes.

    Raises:
        ConfigError: the flags are wrong, or others could reach the service without a token.
        BackendUnavailable: the model does not answer when the service starts.
    """
    token = _token(flags)
    asked = model_asked(flags.config, flags.model, flags.base_url, flags.context_tokens)
    try:
        check_protected(flags.host, token)
        if flags.pseudonyms is not None:
            map_with(flags.pseudonyms, ())
    except (NotProtected, MapUnusable) as error:
        raise ConfigError(str(error)) from error
    with ready(asked, patience=_PATIENCE) as model:
        asyncio.run(_serve(flags, model, token))


async def _serve(flags: ServeFlags, model: Ready, token: str | None) -> None:
    limits = ServiceLimits()
    async with model.backend() as backend:
        cleaner = Cleaner(backend, CleaningConfig(context_tokens=model.context_tokens))
        served = Served(cleaner, flags.pseudonyms, model.check, at_once=model.in_flight)
        app = create_app(served, limits, token=token, loopback=is_loopback(flags.host))
        await serve(app, flags.host, flags.port, grace_s=limits.seconds)


def _token(flags: ServeFlags) -> str | None:
    if flags.token_env is None:
        return None
    token = os.environ.get(flags.token_env)
    if not token:
        raise ConfigError(f"--token-env {flags.token_env}: the variable is not set")
    return token
