"""Root causes upstream of a stream: it goes on while others read what it has written so far."""

from collections.abc import Iterator
from cProfile import Profile
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.component.service.test_service_root_cause import ask, found
from tests.support.app import Body, dataset, event, facet, post, served
from tests.support.days import COLUMNS, at, read, run, written
from tests.support.hours import at_hour, ran

STREAM = {"jobType": facet(processingType="STREAMING", integration="TEST")}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """A stream from raw into events that began on day 1."""
    with served(tmp_path) as client:
        post(client, streamed("START", at(1, 0)))
        yield client


def streamed(kind: str, time: str, **columns: str) -> Body:
    about = {"run": {"runId": "flow"}, "job": {"namespace": "etl", "name": "flow", "facets": STREAM}}
    output = written("events", columns=columns or COLUMNS)
    return event(eventType=kind, eventTime=time, inputs=[dataset("raw")], outputs=[output], **about)


def test_what_a_stream_took_in_after_it_was_read_is_no_finding_for_the_reader(client: TestClient) -> None:
    for day in (5, 6, 7):
        post(client, *run("load", day), streamed("RUNNING", at(day, 2)))
        post(client, *run("count", day, hour=3, inputs=[dataset("events")], outputs=[dataset("counted")]))
    before = ask(client, "dataset:lake:counted")
    post(client, *run("load", 8, outputs=[written("raw", columns={"id": "int"})]), *run("load", 9, state="FAIL"))
    post(client, streamed("RUNNING", at(9, 2)))

    answer = ask(client, "dataset:lake:counted")

    assert (found(answer), answer["lookedAt"]) == ([], before["lookedAt"])
    assert ("failed-run", "load", 1) in found(ask(client, "dataset:lake:events"))


@pytest.mark.parametrize(("early", "late"), [("one", "other"), ("other", "one")])
def test_of_two_readers_of_a_stream_the_later_one_has_read_the_change(
    client: TestClient, early: str, late: str
) -> None:
    for day in (5, 6, 7):
        post(client, streamed("RUNNING", at(day, 1)))
        post(client, *run(early, day, hour=2, inputs=[dataset("events")], outputs=[dataset(early)]))
        post(client, streamed("RUNNING", at(day, 3), **(COLUMNS if day < 7 else {"id": "int"})))
        post(client, *run(late, day, hour=4, inputs=[dataset("events")], outputs=[dataset(late)]))
        post(client, *run("join", day, hour=5, inputs=[dataset("one"), dataset("other")], outputs=[dataset("both")]))

    answer = ask(client, "dataset:lake:both")

    assert found(answer) == [("schema-change", "events", 2)]
    assert answer["findings"][0]["words"] == "events: lost amount"


@pytest.mark.parametrize(("bad_day", "is_found"), [(2, False), (26, False), (27, True), (28, False)])
def test_a_check_by_another_job_counts_if_it_read_what_was_news_for_the_streams_reader(
    client: TestClient, bad_day: int, is_found: bool
) -> None:
    for day in range(1, 29):
        checked = facet(assertions=[{"assertion": "not_null", "column": "amount", "success": day != bad_day}])
        inputs = [dataset("events", dataQualityAssertions=checked)]
        post(client, streamed("RUNNING", at(day, 1)), *run("check", day, hour=2, inputs=inputs, outputs=[]))
        if day < 28:
            post(client, *run("count", day, hour=2, inputs=[dataset("events")], outputs=[dataset("counted")]))

    answer = ask(client, "dataset:lake:counted", run="count-27")

    assert found(answer) == ([("failed-check", "events", 1)] if is_found else [])


def test_a_check_before_the_first_read_of_a_stream_counts(client: TestClient) -> None:
    checked = facet(assertions=[{"assertion": "not_null", "column": "amount", "success": False}])
    inputs = [dataset("events", dataQualityAssertions=checked)]
    post(client, streamed("RUNNING", at(5, 2)), *run("check", 5, hour=2, inputs=inputs, outputs=[]))
    post(client, *run("count", 5, hour=3, inputs=[dataset("events")], outputs=[dataset("counted")]))

    assert found(ask(client, "dataset:lake:counted")) == [("failed-check", "events", 1)]


def test_of_a_past_the_events_of_a_stream_are_parsed_once_and_the_first_ones_once_for_all_pasts(
    client: TestClient,
) -> None:
    stream = {
        **event()["job"],
        "name": "fill",
        "facets": {"jobType": facet(processingType="STREAMING", integration="TEST")},
    }
    events = [
        event(eventType=kind, eventTime=at_hour(place / 60), run={"runId": "fill-1"}, job=stream,
              inputs=[read("topic")], outputs=[written("raw", 1_000 + place)])
        for place, kind in enumerate(["START", *["RUNNING"] * 299])
    ]  # fmt: skip
    events += [each for hour in range(4) for each in ran("report", hour + 0.5, [read("raw")], [written("mart")])]
    for first in range(0, len(events), 100):
        client.post("/api/v1/lineage/batch", json=events[first : first + 100])

    parsed = [_parsed_by(client, at_hour(hour)) for hour in (3.2, 3.2, 2.2, 2.2)]

    assert parsed[0] >= 100
    assert parsed[1] == parsed[3] == 0
    assert 0 < parsed[2] <= 50


def _parsed_by(client: TestClient, as_of: str) -> int:
    """How many events the answer to a question about a past takes to parse, besides those of the past itself."""
    assert client.portal is not None
    profile = Profile()
    client.portal.call(profile.enable)
    ask(client, asOf=as_of)
    client.portal.call(profile.disable)
    return sum(each.callcount for each in profile.getstats() if getattr(each.code, "co_name", "") == "parse_event")
