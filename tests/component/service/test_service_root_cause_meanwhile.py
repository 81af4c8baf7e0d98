"""Root causes between two reads of a dataset: its writer runs more often than its reader."""

from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, facet, get
from tests.support.days import read, written
from tests.support.hours import DAY, Events, at_hour, ran

DAYS = 4
AS_OF = at_hour((DAYS - 1) * DAY + 6)
"""After the last of the daily reads, which begin at 5:30."""
BAD = (DAYS - 2) * DAY + 14
"""The hour in which something goes wrong: 14:00 on the day before that read."""


def loaded(
    hour: float,
    *,
    state: str = "COMPLETE",
    amount: str = "int",
    code: str = "a",
    rows: int = 1000,
    is_well: bool = True,
) -> Events:
    """A run of the hourly job, which makes raw from source."""
    checked = facet(assertions=[{"assertion": "not_null", "column": "amount", "success": is_well}])
    return ran(
        "load",
        hour,
        [read("source", columns={"amount": amount})],
        [written("raw", rows + int(hour) % 7, dataQualityAssertions=checked)],
        state=state,
        job_facets={"sourceCodeLocation": facet(type="git", url="https://example.org/code", version=code)},
    )


def reported(day: int, *, version: str | None = None) -> Events:
    facets: dict[str, Any] = {} if version is None else {"version": facet(datasetVersion=version)}
    return ran("report", day * DAY + 5.5, [read("raw", **facets)], [written("mart", 30)])


def all_of(*bad: tuple[int, dict[str, Any]]) -> Events:
    """Four days of both jobs; in some hours the hourly job differs from its defaults."""
    changes = dict(bad)
    hours = range((DAYS - 1) * DAY + 6)
    return [
        *(each for hour in hours for each in loaded(hour, **changes.get(hour, {}))),
        *(each for day in range(DAYS) for each in reported(day)),
    ]


def ask(client: TestClient, node_id: str = "dataset:lake:mart", **query: str) -> Body:
    return get(client, f"/api/v1/root-cause?{urlencode({'nodeId': node_id, 'asOf': AS_OF, **query})}")


def batch(client: TestClient, events: Events) -> None:
    for first in range(0, len(events), 200):
        response = client.post("/api/v1/lineage/batch", json=events[first : first + 200])
        assert response.json()["summary"]["failed"] == 0, response.text


def first(answer: Body) -> tuple[str, float, str]:
    """Kind, score and run of the first finding."""
    finding = answer["findings"][0]
    return finding["kind"], finding["score"], finding["runs"][0]


STAYS = range(BAD, (DAYS - 1) * DAY + 6)
BETWEEN_READS: dict[str, tuple[list[tuple[int, dict[str, Any]]], tuple[str, float]]] = {
    "a column was retyped and stays so": ([(hour, {"amount": "string"}) for hour in STAYS], ("schema-change", 0.85)),
    "a column was retyped for an hour": ([(BAD, {"amount": "string"})], ("schema-change", 0.85)),
    "the code was changed and stays so": ([(hour, {"code": "b"}) for hour in STAYS], ("code-change", 0.6)),
    "a run wrote no rows": ([(BAD, {"rows": -(BAD % 7)})], ("volume-jump", 0.85)),
    "a check failed": ([(BAD, {"is_well": False})], ("failed-check", 0.8)),
    "a run failed, and the next succeeded": ([(BAD, {"state": "FAIL"})], ("failed-run", 0.45)),
}


@pytest.mark.parametrize("past", BETWEEN_READS)
def test_a_change_between_two_reads_is_found_at_the_run_that_made_it(client: TestClient, past: str) -> None:
    bad, (kind, score) = BETWEEN_READS[past]
    batch(client, all_of(*bad))

    answer = ask(client)

    assert first(answer) == (kind, score, f"load-{BAD}")
    (link,) = answer["findings"][0]["path"]
    assert (link["reader"], link["writer"], link["by"]) == ("report-77.5", f"load-{BAD}", "meanwhile")


@pytest.mark.parametrize(
    ("bad", "kind", "score"),
    [({"rows": -(BAD % 7)}, "volume-jump", 0.425), ({"is_well": False}, "failed-check", 0.4),
     ({"state": "FAIL"}, "failed-run", 0.225), ({"amount": "string"}, "schema-change", 0.85)],
)  # fmt: skip
def test_faulty_data_of_one_run_scores_less_where_the_last_run_overwrote_it(
    client: TestClient, bad: dict[str, Any], kind: str, score: float
) -> None:
    events = all_of((BAD, bad))
    for each in events:
        for output in each["outputs"] if each["job"]["name"] == "load" else ():
            output["facets"]["lifecycleStateChange"] = facet(lifecycleStateChange="OVERWRITE")
    batch(client, events)

    assert first(ask(client)) == (kind, score, f"load-{BAD}")


LAST = (DAYS - 1) * DAY + 5
"""The hour of the last run before the last read."""


@pytest.mark.parametrize(
    ("bad", "overwriting", "day", "score"),
    [
        (BAD, BAD - 1, 3, 0.8),
        (BAD, BAD + 1, 3, 0.8),
        (BAD, LAST, 3, 0.4),
        (LAST, LAST, 3, 0.8),
        (BAD - DAY, LAST, 2, 0.8),
    ],
)
def test_only_the_last_run_before_the_read_decides_whether_faulty_data_was_overwritten(
    client: TestClient, bad: int, overwriting: int, day: int, score: float
) -> None:
    events = all_of((bad, {"is_well": False}))
    for each in events:
        if each["run"]["runId"] == f"load-{overwriting}":
            each["outputs"][0]["facets"]["lifecycleStateChange"] = facet(lifecycleStateChange="OVERWRITE")
    batch(client, events)

    assert first(ask(client, run=f"report-{day * DAY + 5.5:g}")) == ("failed-check", score, f"load-{bad}")


def test_without_a_fault_between_two_reads_nothing_is_found(client: TestClient) -> None:
    batch(client, all_of())

    answer = ask(client)

    assert answer["findings"] == []
    (read_raw,) = answer["lookedAt"][0]["inputs"]
    by = [link["by"] for link in read_raw["writers"]]
    assert (by[0], {*by[1:]}, len(by), read_raw["words"]) == (
        "time",
        {"meanwhile"},
        24,
        "written by known runs",
    )


def test_runs_before_the_previous_read_are_not_looked_at(client: TestClient) -> None:
    batch(client, all_of((BAD - DAY, {"rows": 0, "is_well": False})))

    assert ask(client)["findings"] == []


def test_a_failed_run_that_was_soon_retried_is_no_finding(client: TestClient) -> None:
    again = ran("load", BAD + 0.2, [read("source")], [written("raw", 1000)])
    batch(client, [*all_of((BAD, {"state": "FAIL"})), *again])

    assert "failed-run" not in [each["kind"] for each in ask(client)["findings"]]


def test_of_a_failed_run_it_is_stated_whether_later_ones_succeeded_before_the_read(client: TestClient) -> None:
    batch(client, all_of((BAD, {"state": "FAIL"}), (LAST - 1, {"state": "FAIL"}), (LAST, {"state": "FAIL"})))

    assert [(each["runs"][0], each["words"]) for each in ask(client)["findings"]] == [
        (f"load-{LAST}", "a run of load failed"),
        (f"load-{BAD}", "a run of load failed, and later ones succeeded"),
        (f"load-{LAST - 1}", "a run of load failed, and so did later ones"),
    ]


def test_a_jump_in_rows_of_several_runs_is_one_finding_at_the_first(client: TestClient) -> None:
    batch(client, all_of(*((BAD + hour, {"rows": 100 + hour}) for hour in range(3))))

    (finding,) = ask(client)["findings"]

    assert finding["runs"][:3] == [f"load-{BAD + hour}" for hour in range(3)]
    assert finding["words"].startswith(f"raw: load wrote {100 + BAD % 7} rows; ")
    assert finding["words"].endswith("; 2 later runs did likewise")


def test_a_jump_in_rows_since_a_jobs_code_changed_is_a_consequence_of_the_change(client: TestClient) -> None:
    batch(client, all_of(*((hour, {"code": "b", "rows": -(hour % 7)}) for hour in STAYS)))

    assert [(each["kind"], each["consequence"]) for each in ask(client)["findings"]] == [
        ("code-change", False),
        ("volume-jump", True),
    ]


def test_a_jump_in_rows_before_a_jobs_code_changed_is_no_consequence_of_it(client: TestClient) -> None:
    batch(client, all_of((BAD - 1, {"rows": 100}), *((hour, {"code": "b"}) for hour in STAYS)))

    assert [(each["kind"], each["consequence"]) for each in ask(client)["findings"]] == [
        ("volume-jump", False),
        ("code-change", False),
    ]


def for_its_hour(events: Events) -> Events:
    """Each run with the nominal time at which its schedule began it."""
    for each in events:
        hour = float(each["run"]["runId"].rpartition("-")[2])
        each["run"]["facets"] = {"nominalTime": facet(nominalStartTime=at_hour(hour // 1))}
    return events


def test_a_backfill_between_two_reads_is_found_and_what_it_wrote_is_a_consequence(client: TestClient) -> None:
    backfill = loaded(BAD + 0.5, rows=9000)
    for each in backfill:
        each["run"]["facets"] = {"nominalTime": facet(nominalStartTime=at_hour(3))}
    batch(client, [*for_its_hour(all_of()), *backfill])

    rerun, jump = ask(client)["findings"]

    assert rerun["words"] == "load ran again for 2026-05-01T03:00:00Z, which earlier runs had already passed"
    assert (rerun["kind"], rerun["score"], rerun["runs"][0]) == ("rerun", 0.5, f"load-{BAD + 0.5:g}")
    assert (jump["kind"], jump["consequence"]) == ("volume-jump", True)


def test_a_run_for_the_next_hour_is_no_rerun(client: TestClient) -> None:
    batch(client, for_its_hour(all_of()))

    assert ask(client)["findings"] == []


def test_a_job_that_runs_twice_for_each_hour_has_no_reruns(client: TestClient) -> None:
    again = (loaded(hour + 0.5) for hour in range((DAYS - 1) * DAY + 5))
    batch(client, for_its_hour([*all_of(), *(each for events in again for each in events)]))

    assert "rerun" not in [each["kind"] for each in ask(client)["findings"]]


def test_a_retry_that_wrote_too_few_rows_is_called_one(client: TestClient) -> None:
    batch(client, [*all_of((BAD, {"state": "FAIL"})), *loaded(BAD + 0.2, rows=500)])

    (finding,) = ask(client)["findings"]

    assert finding["words"].startswith(
        f"raw: load wrote {500 + BAD % 7} rows after a run that failed; its 10 runs before wrote 1,000 to 1,006"
    )


def test_missing_rows_since_a_stream_fell_silent_are_a_consequence_of_its_silence(client: TestClient) -> None:
    kind = {"jobType": facet(processingType="STREAMING", integration="TEST")}
    fill = ran("fill", 0, [], [dataset("source")], state="RUNNING", minutes=(BAD - 0.5) * 60, job_facets=kind)
    batch(client, [*fill, *all_of(*((hour, {"rows": -(hour % 7)}) for hour in STAYS))])

    assert [(each["kind"], each["consequence"]) for each in ask(client)["findings"]] == [
        ("silent-stream", False),
        ("volume-jump", True),
    ]


def test_a_failed_run_that_reported_only_its_failure_is_no_retry_of_itself(client: TestClient) -> None:
    events = all_of((BAD, {"state": "FAIL"}))
    batch(client, [each for each in events if (each["run"]["runId"], each["eventType"]) != (f"load-{BAD}", "START")])

    assert first(ask(client)) == ("failed-run", 0.45, f"load-{BAD}")


@pytest.mark.parametrize(
    ("nominal", "is_found"),
    [((BAD, BAD + 1), True), ((BAD, BAD), False), ((BAD, None), False), ((BAD, BAD + 1, BAD), False)],
)
def test_a_run_for_another_nominal_time_is_no_retry_however_soon_it_began(
    client: TestClient, nominal: tuple[int | None, ...], is_found: bool
) -> None:
    failed, *retries = (
        {} if each is None else {"nominalTime": facet(nominalStartTime=at_hour(each))} for each in nominal
    )
    events = all_of((BAD, {"state": "FAIL"}))
    for each in events:
        if each["run"]["runId"] == f"load-{BAD}":
            each["run"]["facets"] = failed
    for place, facets in enumerate(retries):
        hour = BAD + 0.2 + place / 10
        events += ran("load", hour, [read("source")], [written("raw", 1000)], run_facets=facets)
    batch(client, events)

    assert ("failed-run" in [each["kind"] for each in ask(client)["findings"]]) == is_found


def test_as_few_rows_as_at_the_same_hour_of_the_day_before_are_no_finding(client: TestClient) -> None:
    nights = [day * DAY + hour for day in range(DAYS) for hour in range(5)]
    batch(client, all_of(*((hour, {"rows": 100 - hour % 7}) for hour in nights)))

    assert ask(client)["findings"] == []


def test_for_the_first_run_of_a_reader_only_the_last_run_that_wrote_is_looked_at(client: TestClient) -> None:
    batch(client, [*(each for hour in range(6) for each in loaded(hour)), *reported(0)])

    assert [each["run"]["id"] for each in ask(client)["lookedAt"]] == ["report-5.5", "load-5"]


def test_between_two_versions_that_were_read_all_runs_that_wrote_are_looked_at(client: TestClient) -> None:
    def load(hour: int, rows: int = 1000) -> Events:
        version = facet(datasetVersion=str(hour))
        return ran("load", hour, [], [written("raw", rows, version=version)])

    hours = [load(hour, rows=0 if hour == 20 else 1000 + hour % 7) for hour in range(31)]
    batch(client, [each for events in hours for each in events])
    batch(client, [*reported(0, version="3"), *reported(1, version="27")])

    answer = ask(client)

    assert [link["writer"] for link in answer["lookedAt"][0]["inputs"][0]["writers"]] == [
        f"load-{hour}" for hour in range(27, 3, -1)
    ]
    assert first(answer) == ("volume-jump", 0.85, "load-20")


def test_of_very_many_runs_between_two_reads_that_did_alike_the_newest_are_looked_at_which_is_reported(
    client: TestClient,
) -> None:
    ends = [read("source")], [written("raw")]
    hours = [1 + minute / 60 for minute in range(2 * 60)]
    states = {hours[9]: "FAIL"}
    loads = [ran("load", hour, *ends, state=states.get(hour, "COMPLETE"), minutes=0.5) for hour in hours]
    other = ran("other", 2, [], [written("names")], state="FAIL")
    inputs = [read("raw"), read("names")]
    reads = [ran("report", hour, inputs, [written("mart")]) for hour in (1.01, 3.0)]
    batch(client, [each for events in (*loads, other, *reads) for each in events])

    answer = ask(client)

    raw = answer["lookedAt"][0]["inputs"][1]
    assert raw["words"] == (
        "written by known runs; of those since the reader's previous run, the newest are examined, and of the others a "
        "sample"
    )
    assert [link["by"] for link in raw["writers"]] == ["time", *["meanwhile"] * 25]
    assert [(each["nodeId"], each["score"]) for each in answer["findings"]] == [
        ("job:etl:other", 0.9),
        ("job:etl:load", 0.45),
    ]


def test_where_only_the_newest_of_very_many_runs_were_examined_and_nothing_was_found_the_summary_has_it(
    client: TestClient,
) -> None:
    loads = [ran("load", 1 + minute / 60, [], [written("raw")], minutes=0.5) for minute in range(60)]
    reads = [ran("report", hour, [read("raw")], [written("mart")]) for hour in (1.01, 2.0)]
    batch(client, [each for events in (*loads, *reads) for each in events])

    assert ask(client)["summary"] == (
        "nothing found in 26 runs of 2 jobs, up to 1 step upstream (of very many between two reads, the newest and a "
        "sample); 26 of these had earlier runs to compare with"
    )


def test_with_many_inputs_the_limit_is_shared_among_them(client: TestClient) -> None:
    names = [f"raw-{place}" for place in range(10)]
    hours = range((DAYS - 2) * DAY + 6)
    for name in names:
        rows = {hour: 0 if hour == (DAYS - 2) * DAY - 2 else 1000 + hour % 7 for hour in hours}
        runs = (ran(f"load-{name}", hour, [], [written(name, rows[hour])]) for hour in hours)
        batch(client, [each for events in runs for each in events])
    reads = [ran("report", day * DAY + 5.5, [*map(read, names)], [written("mart")]) for day in range(DAYS - 1)]
    batch(client, [each for events in reads for each in events])

    answer = ask(client, asOf=at_hour((DAYS - 2) * DAY + 6))

    assert (len(answer["lookedAt"]), answer["isCut"]) == (200, True)
    assert {each["nodeId"] for each in answer["findings"]} == {f"dataset:lake:{name}" for name in names}


def test_upstream_of_the_runs_between_two_reads_is_looked_at_too(client: TestClient) -> None:
    fetched = [
        ran("fetch", hour - 0.5, [], [written("source", 0 if hour == BAD else 500 + hour % 5)])
        for hour in range(1, (DAYS - 1) * DAY + 6)
    ]
    batch(client, [*(each for events in fetched for each in events), *all_of((BAD, {"rows": -(BAD % 7)}))])

    answer = ask(client)

    assert [(each["nodeId"], each["runs"][0], each["consequence"]) for each in answer["findings"]] == [
        ("dataset:lake:source", f"fetch-{BAD - 0.5:g}", False),
        ("dataset:lake:raw", f"load-{BAD}", True),
    ]
    assert not answer["isCut"]


def test_a_stream_between_two_reads_of_its_output_has_read_from_each_run(client: TestClient) -> None:
    kind = {"jobType": facet(processingType="STREAMING", integration="TEST")}
    flow = ran("flow", 0, [dataset("raw")], [dataset("stage")], state="RUNNING", minutes=30 * 60, job_facets=kind)
    reports = [ran("report", day * DAY + 5.5, [dataset("stage")], [dataset("mart")]) for day in (0, 1)]
    hours = [loaded(hour, is_well=hour != 14) for hour in range(30)]
    batch(client, [*flow, *(each for events in (*hours, *reports) for each in events)])

    answer = ask(client)

    checks = [each for each in answer["findings"] if each["kind"] == "failed-check"]
    assert [(each["runs"][0], each["distance"]) for each in checks] == [("load-14", 2)]
