"""How `headwater execution list` and `headwater job history` show an execution."""

from typing import Any

from headwater.cli.execution import with_trouble

FAILED: dict[str, Any] = {
    "runId": "01a1fd5c-bf4f-7259-9205-000000000001",
    "namespace": "shop",
    "job": "orders-to-lake",
    "version": 2,
    "state": "failed",
    "trigger": "schedule",
    "createdAt": "2026-05-22T14:23:11Z",
    "startedAt": "2026-05-22T14:23:12Z",
    "endedAt": "2026-05-22T14:23:20Z",
    "stop": None,
    "health": {"lastError": None},
    "error": "input (line 3): Path does not exist: /in/orders.csv\n'Project ['id]",
}


def test_a_failed_execution_has_its_error_in_a_line_below() -> None:
    lines = with_trouble(FAILED).splitlines()

    assert lines == [
        "01a1fd5c-bf4f-7259-9205-000000000001  shop/orders-to-lake  version 2  failed  schedule"
        "  2026-05-22T14:23:12Z to 2026-05-22T14:23:20Z",
        "    input (line 3): Path does not exist: /in/orders.csv",
    ]


def test_an_execution_that_did_not_fail_is_shown_in_one_line() -> None:
    assert len(with_trouble({**FAILED, "state": "completed", "error": None}).splitlines()) == 1


def test_a_degraded_execution_has_the_reason_why_its_lineage_waits() -> None:
    health = {"lastError": "http://localhost:5000: ConnectError"}

    lines = with_trouble({**FAILED, "state": "degraded", "error": None, "health": health}).splitlines()

    assert lines[1:] == ["    its events are not delivered yet: http://localhost:5000: ConnectError"]
