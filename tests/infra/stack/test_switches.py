from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.stack.prefect_api import ApiAway
from infra.stack.registration import RegistrationFailed, read_deployments
from infra.stack.switches import as_switched
from tests.infra.stack.answering import Answering, answering, once

WANTED: dict[str, Any] = yaml.safe_load("""
name: test
deployments:
- name: make
  entrypoint: flows/a.py:make
  schedules:
  - {slug: nightly, cron: "0 1 * * *", active: false}
  - {slug: weekly, cron: "0 1 * * 0", active: true}
  - {cron: "0 2 * * *", active: true}
  triggers:
  - {name: after, enabled: false, expect: [shard.committed]}
  - {enabled: true, expect: [shard.committed]}
- name: make
  entrypoint: flows/b.py:make
  schedules:
  - {slug: nightly, cron: "0 1 * * *", active: false}
""")
AUTOMATIONS = "/api/automations/related-to/prefect.deployment.id-of-a"


@pytest.fixture
def server() -> Iterator[Answering]:
    with answering() as running:
        yield running


def deployment(**changed: object) -> dict[str, object]:
    known = {"id": "id-of-a", "name": "make", "entrypoint": "flows/a.py:make", "paused": False, "schedules": []}
    return known | changed


def test_a_server_that_knows_nothing_gets_what_the_file_says(server: Answering) -> None:
    server.answers["/api/deployments/filter"] = once([])
    assert as_switched(WANTED, server.api) == WANTED


def test_what_was_switched_in_the_dashboard_stays_and_what_is_new_is_as_the_file_says(server: Answering) -> None:
    known = deployment(
        paused=True,
        schedules=[{"slug": "nightly", "active": True}, {"slug": None, "active": False}],
    )
    server.answers["/api/deployments/filter"] = once([known])
    server.answers[AUTOMATIONS] = lambda _: [
        {"name": "after", "enabled": True},
        {"name": "make__automation_2", "enabled": False},
        {"name": "of somebody else", "enabled": True},
    ]
    first, second = as_switched(WANTED, server.api)["deployments"]
    assert [each["active"] for each in first["schedules"]] == [True, True, True]
    assert [each["enabled"] for each in first["triggers"]] == [True, False]
    assert first["paused"] is True
    assert [each["cron"] for each in first["schedules"]] == ["0 1 * * *", "0 1 * * 0", "0 2 * * *"]
    assert second == WANTED["deployments"][1]  # of the same name, and of another flow


def test_what_was_switched_off_in_the_dashboard_stays_off(server: Answering) -> None:
    known = deployment(schedules=[{"slug": "weekly", "active": False}])
    server.answers["/api/deployments/filter"] = once([known])
    server.answers[AUTOMATIONS] = lambda _: []
    first, _ = as_switched(WANTED, server.api)["deployments"]
    assert [each["active"] for each in first["schedules"]] == [False, False, True]
    assert first["triggers"] == WANTED["deployments"][0]["triggers"]


def test_every_page_of_deployments_is_asked_for(server: Answering) -> None:
    pages = {0: [deployment(name="other")], 1: [deployment(schedules=[{"slug": "nightly", "active": True}])]}
    server.answers["/api/deployments/filter"] = lambda asked: pages.get(asked["offset"], [])
    server.answers[AUTOMATIONS] = lambda _: []
    first, _ = as_switched(WANTED, server.api)["deployments"]
    assert first["schedules"][0]["active"] is True


def test_a_server_that_is_away_switches_nothing(server: Answering) -> None:
    server.status = 503
    with pytest.raises(ApiAway):
        as_switched(WANTED, server.api)


@pytest.mark.parametrize("text", ["", "- a\n", "a: [\n"])
def test_what_is_no_file_of_deployments_is_said_by_name(text: str, tmp_path: Path) -> None:
    file = tmp_path / "prefect.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RegistrationFailed, match=str(file)):
        read_deployments(file)
