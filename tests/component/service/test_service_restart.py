"""A service that learned events one by one, with reads between them, answers the same after a restart."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support import logs
from tests.support.app import START_US, Body, dataset, event, facet, served
from tests.support.reads import read_everything, without_members

_LATER_US = START_US + 4 * 3_600_000_000
"""Hours after all events, so that it does not matter that each look at the clock advances it."""
_PER_PROCESS = {"receivedAt"}


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(log=logs.logs, later=logs.logs)
def test_what_is_cached_between_events_is_what_a_fresh_start_finds(log: list[bytes], later: list[bytes]) -> None:
    live, restarted = _live_and_restarted([*log, *later])

    assert live == restarted


def test_a_run_has_moved_although_its_former_job_is_named_as_its_parent() -> None:
    sources = [{"namespace": "lake", "name": name, "field": "id"} for name in ("read", "other")]
    columns = facet(fields={"id": {"inputFields": sources}})
    written, former = dataset("t", columnLineage=columns), {"namespace": "etl", "name": "load"}
    parent = facet(run={"runId": "whole"}, job=former)
    log = [
        _at(1, run={"runId": "moves"}, job=former, inputs=[dataset("read")]),
        _at(2, run={"runId": "stays"}, job=former, inputs=[dataset("other")], outputs=[written]),
        _at(3, run={"runId": "moves", "facets": {"parent": parent}}, job={"namespace": "mart", "name": "take"}),
    ]

    live, restarted = _live_and_restarted([json.dumps(each).encode() for each in log])

    assert live == restarted


@pytest.mark.parametrize("ends", [{"inputs": []}, {"outputs": []}])
def test_a_source_named_only_by_a_facet_takes_the_spelling_that_is_used_later(ends: Body) -> None:
    spelt, used = ({"namespace": f"{scheme}://bucket", "name": "t0"} for scheme in ("s3a", "s3"))
    view = dataset("t1", lineage=facet(inputs=[{**spelt, "type": "DATASET", "field": "c"}], fields={}))
    derives = {key: value for key, value in _at(1).items() if key in ("eventTime", "producer", "schemaURL")}
    uses = _at(2, **{side: [used] for side in ("inputs", "outputs") if side not in ends})

    live, restarted = _live_and_restarted([json.dumps(each).encode() for each in ({**derives, "dataset": view}, uses)])

    assert live == restarted


def _live_and_restarted(log: Sequence[bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers of a service that was read after each event, and those after a restart."""
    with TemporaryDirectory() as folder:
        with served(Path(folder), start_us=_LATER_US) as client:
            for raw in log:
                assert client.post("/api/v1/lineage", content=raw).status_code in (200, 201)
                live = without_members(read_everything(client), _PER_PROCESS)
        with served(Path(folder), start_us=_LATER_US) as client:
            return live, without_members(read_everything(client), _PER_PROCESS)


def _at(second: int, **changes: object) -> Body:
    return event(eventTime=f"2026-05-22T14:23:{second:02d}Z", **changes)
