"""With which settings the parts of a stack run."""

import json
import os
from collections.abc import Mapping
from datetime import timedelta

from infra.ray.cluster import LOCAL_ENVIRONMENT
from infra.stack.config import LOOPBACK, StackConfig
from infra.stack.folder import StackFolder
from infra.stack.processes import MARK

DATABASE = "PRIVASIS_DATABASE_URL"

RUNS_KEPT = timedelta(days=90)
EVENTS_KEPT = timedelta(days=14)
HEARTBEATS_KEPT = timedelta(days=1)
HEARTBEAT_S = 30  # the shortest that Prefect takes

SERVER = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_LOGGING_SERVER_LEVEL": "WARNING",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",  # SQLite has one writer at a time; on a busy machine 10 s are too few
    "PREFECT_SERVER_DATABASE_CONNECTION_TIMEOUT": "30",
    # Everything that serves schedules, late runs, automations, events, cancelling and dead workers is on by default;
    # what is off, or too generous for one machine's database, is the cleaning up.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs,orphans",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": f"{RUNS_KEPT.total_seconds():.0f}",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_EVENT_RETENTION_OVERRIDES": json.dumps(
        {"prefect.flow-run.heartbeat": HEARTBEATS_KEPT.total_seconds()}
    ),
    "PREFECT_SERVER_EVENTS_RETENTION_PERIOD": f"P{EVENTS_KEPT.days}D",
    "PREFECT_SERVER_SERVICES_CANCELLATION_CLEANUP_CANCELLING_TIMEOUT_SECONDS": "60",
}

WORKER = {
    "DO_NOT_TRACK": "1",
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(HEARTBEAT_S),
    "PREFECT_WORKER_HEARTBEAT_SECONDS": "10",
    "PREFECT_WORKER_QUERY_SECONDS": "5",
    "PREFECT_WORKER_ENABLE_CANCELLATION": "true",  # of runs whose process has not begun, too
    "PREFECT_WORKER_CANCELLATION_POLL_SECONDS": "10",  # where the server cannot push it
    # A server that is started again, or whose database is, is waited for: 2 + 4 + .. + 64 s.
    "PREFECT_CLIENT_MAX_RETRIES": "6",
    "PREFECT_CLIENT_RETRY_EXTRA_CODES": "500,504",  # asyncpg's refused connections come as 500
}


def server_environment(config: StackConfig, mark: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of the Prefect server; it holds secrets."""
    folder = StackFolder(config.home)
    database = inherited.get(DATABASE)
    return (
        _base(config, mark, inherited)
        | SERVER
        | {
            "PREFECT_SERVER_API_HOST": LOOPBACK,
            "PREFECT_SERVER_API_PORT": str(config.port),
            "PREFECT_SERVER_API_AUTH_STRING": folder.auth_string(),
            "PREFECT_API_AUTH_STRING": folder.auth_string(),  # its automations call it
            "PREFECT_SERVER_UI_API_URL": config.api_url,
            # The default is inside the installed package.
            "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(folder.prefect / "pages"),
        }
        | ({"PREFECT_SERVER_DATABASE_CONNECTION_URL": asynchronous(database)} if database else {})
    )


def ray_environment(config: StackConfig, mark: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of the Ray head."""
    return _base(config, mark, inherited) | _ray(config) | {"RAY_USAGE_STATS_ENABLED": "0"}


def client_environment(config: StackConfig) -> dict[str, str]:
    """Return what a process of this machine needs to use the stack; it holds the password."""
    return (
        {"PREFECT_API_URL": config.api_url, "PREFECT_API_AUTH_STRING": StackFolder(config.home).auth_string()}
        | {"PRIVASIS_RAY_ADDRESS": config.ray_head}
        | _ray(config)
    )


def worker_environment(config: StackConfig, mark: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of the worker, which its flow runs inherit: keys of models are in it."""
    return _base(config, mark, inherited) | WORKER | client_environment(config)


def exports(config: StackConfig) -> str:
    """Return lines for a shell to evaluate; the password stays in its file."""
    folder = StackFolder(config.home)
    lines = [
        f"export PREFECT_API_URL={config.api_url}",
        f'export PREFECT_API_AUTH_STRING="$(cat {_quoted(str(folder.password))})"',
        f"export PRIVASIS_RAY_ADDRESS={config.ray_head}",
        # A proxy that the shell has would be asked for our server, too.
        f'case ",${{no_proxy:-}}," in *,{LOOPBACK},*) ;;',
        f'*) export no_proxy="${{no_proxy:+$no_proxy,}}{LOOPBACK}" ;; esac',
    ]
    if config.ray_address is None:
        lines += [f"export {name}={_quoted(value)}" for name, value in _ray(config).items()]
    return "\n".join(lines)


def asynchronous(database: str) -> str:
    """Name the driver that Prefect needs in a PostgreSQL URL that does not name one.

    Raises:
        ValueError: it is of another database.
    """
    scheme, separator, rest = database.partition("://")
    if separator and scheme in ("postgresql", "postgres", "postgresql+asyncpg"):
        return f"postgresql+asyncpg://{rest}"
    raise ValueError(
        f"{DATABASE} begins with {scheme!r}, not with postgresql://: give postgresql://USER:PASSWORD@HOST/DATABASE, or"
        " nothing for a file of SQLite"
    )


def _base(config: StackConfig, mark: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """Leave out the settings of a person's own Prefect and Ray, and the password of the database."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(("PREFECT_", "RAY_"))}
    kept.pop(DATABASE, None)
    spared = inherited.get("no_proxy", inherited.get("NO_PROXY", ""))
    return kept | {
        "PREFECT_HOME": str(StackFolder(config.home).prefect),
        "PYTHONUNBUFFERED": "1",
        "no_proxy": ",".join(filter(None, [spared, LOOPBACK])),
        MARK: mark,
    }


def _ray(config: StackConfig) -> dict[str, str]:
    if config.ray_address is not None:  # a cluster of somebody else: its token is in our environment, or there is none
        return {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
    # All of it is needed by those who attach, too: else Ray looks for a head on loopback at the outer address.
    return LOCAL_ENVIRONMENT | {"RAY_AUTH_TOKEN_PATH": str(StackFolder(config.home).ray_token)}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
