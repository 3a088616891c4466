import os
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from infra.stack.config import StackConfig
from infra.stack.environment import (
    SERVER,
    WORKER,
    asynchronous,
    client_environment,
    exports,
    server_environment,
    worker_environment,
)
from infra.stack.folder import StackFolder

INHERITED = {
    "PATH": "/bin",
    "OPENAI_API_KEY": "key",
    "PREFECT_API_URL": "https://somebody.example/api",
    "RAY_ADDRESS": "10.0.0.1:6379",
    "PRIVASIS_DATABASE_URL": "postgresql://me:secret@db/prefect",
}


@pytest.fixture
def config(tmp_path: Path) -> StackConfig:
    config = StackConfig(home=tmp_path / "it's home", project=tmp_path, port=4210)
    StackFolder(config.home).make()
    return config


def test_prefect_understands_every_setting_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.settings import Settings

    for name, value in (SERVER | WORKER).items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    vacuum = settings.server.services.db_vacuum
    assert vacuum.enabled_vacuum_types == {"events", "flow_runs", "orphans"}
    assert vacuum.retention_period == timedelta(days=90)
    assert vacuum.event_retention_overrides == {"prefect.flow-run.heartbeat": timedelta(days=1)}
    assert settings.server.events.retention_period == timedelta(days=14)
    assert settings.server.services.cancellation_cleanup.cancelling_timeout_seconds == 60
    assert (settings.server.database.timeout, settings.server.database.connection_timeout) == (60, 30)
    assert settings.flows.heartbeat_frequency == 30
    assert settings.client.max_retries == 6
    assert settings.client.retry_extra_codes == {500, 504}
    assert settings.worker.enable_cancellation


def test_what_serves_schedules_and_automations_stays_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.settings import Settings

    for name, value in SERVER.items():
        monkeypatch.setenv(name, value)
    services = Settings().server.services
    needed = ("scheduler", "late_runs", "triggers", "event_persister", "task_run_recorder", "foreman", "repossessor")
    assert all(getattr(services, name).enabled for name in (*needed, "cancellation_cleanup", "pause_expirations"))


def test_runs_get_the_keys_of_models_but_not_the_password_of_the_database(config: StackConfig) -> None:
    environment = worker_environment(config, "mark", INHERITED)
    assert environment["OPENAI_API_KEY"] == "key"
    assert environment["PREFECT_API_URL"] == "http://127.0.0.1:4210/api"
    assert environment["PRIVASIS_RAY_ADDRESS"] == "127.0.0.1:6379"
    assert "RAY_ADDRESS" not in environment
    assert not any("secret" in value for value in environment.values())


def test_the_server_gets_the_database_and_nothing_of_a_persons_own_prefect(config: StackConfig) -> None:
    environment = server_environment(config, "mark", INHERITED)
    assert environment["PREFECT_SERVER_DATABASE_CONNECTION_URL"] == "postgresql+asyncpg://me:secret@db/prefect"
    assert "PREFECT_API_URL" not in environment
    assert "PRIVASIS_DATABASE_URL" not in environment


def test_without_a_database_prefect_keeps_its_own_file(config: StackConfig) -> None:
    environment = server_environment(config, "mark", {"PATH": "/bin"})
    assert "PREFECT_SERVER_DATABASE_CONNECTION_URL" not in environment
    assert environment["PREFECT_HOME"] == str(config.home / "prefect")


def test_a_cluster_of_somebody_else_keeps_its_settings(config: StackConfig) -> None:
    theirs = config.model_copy(update={"ray_address": "10.0.0.1:6379"})
    assert client_environment(theirs)["PRIVASIS_RAY_ADDRESS"] == "10.0.0.1:6379"
    assert str(config.home) not in client_environment(theirs).get("RAY_AUTH_TOKEN_PATH", "")
    assert set(theirs.ports()) == {"the Prefect server"}


def test_a_shell_gets_from_the_exports_what_the_worker_gets(config: StackConfig) -> None:
    text = exports(config)
    password = StackFolder(config.home).auth_string()
    assert password not in text
    told = subprocess.run(
        ["bash", "-c", f"{text}\nenv"], capture_output=True, text=True, check=True, env={"PATH": os.defpath}
    )
    shell = dict(line.split("=", 1) for line in told.stdout.splitlines() if "=" in line)
    assert client_environment(config).items() <= shell.items()
    assert shell["no_proxy"] == "127.0.0.1"


def test_exports_that_are_given_twice_spare_our_server_the_proxy_once(config: StackConfig) -> None:
    text = f"export no_proxy=example.org\n{exports(config)}\n{exports(config)}\necho $no_proxy"
    told = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True, env={"PATH": os.defpath})
    assert told.stdout == "example.org,127.0.0.1\n"


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        ("postgresql://me:a%40b@db:5433/prefect", "postgresql+asyncpg://me:a%40b@db:5433/prefect"),
        ("postgres://db/prefect", "postgresql+asyncpg://db/prefect"),
        ("postgresql+asyncpg://db/prefect", "postgresql+asyncpg://db/prefect"),
    ],
)
def test_a_postgresql_url_names_the_driver(given: str, needed: str) -> None:
    assert asynchronous(given) == needed


@pytest.mark.parametrize("given", ["mysql://me:hidden@db/prefect", "db/prefect", "sqlite:///x.db"])
def test_another_database_is_refused_without_telling_the_password(given: str) -> None:
    with pytest.raises(ValueError, match="postgresql://") as caught:
        asynchronous(given)
    assert "hidden" not in str(caught.value)


def test_two_parts_on_one_port_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two parts on one port"):
        StackConfig(home=tmp_path, project=tmp_path, port=8265)
