"""What a change reaches and breaks, in graphs with known answers."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.model.names import ColumnId, DatasetId
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.views.impact import Page, impact
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore
from tests.support.app import PRODUCER, Body, dataset, event, facet, get, post, served, without_run
from tests.support.flights import FLIGHTS, columns, ran, schema, source

DELAYS = ("carrier", "avg_delay")
JOBS_BETWEEN = ("average", "score", "alarm")
_UNKNOWN = ", and no event reports which columns it uses"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """Flights are cut to legs, filtered by origin, and averaged by carrier; a board and a copy read them too."""
    with served(tmp_path) as client:
        post(client, *FLIGHTS)
        yield client


def ask(client: TestClient, **query: str) -> Body:
    return get(client, f"/api/v1/impact?{urlencode({'nodeId': 'dataset:lake:flights', **query})}")


def short(node_id: str) -> str:
    return node_id.removeprefix("datasetField:lake:").removeprefix("dataset:lake:").replace("job:etl:", "job ")


def test_a_column_reaches_what_is_made_from_it_and_readers_without_column_lineage(client: TestClient) -> None:
    answer = ask(client, column="arr_delay")

    assert answer["nodeId"] == "datasetField:lake:flights:arr_delay"
    assert [(reached["distance"], short(reached["id"]), reached["use"]) for reached in answer["reached"]] == [
        (1, "legs:delay", "direct"),
        (1, "flights_copy", "unknown"),
        (1, "legs", "direct"),
        (1, "job copy", "unknown"),
        (1, "job cut", "direct"),
        (2, "delays:avg_delay", "direct"),
        (2, "delays", "direct"),
        (2, "job average", "direct"),
        (3, "job board", "unknown"),
    ]
    assert answer["counts"] == {"columns": 2, "datasets": 3, "jobs": 4, "breaking": 0, "unknown": 0}
    assert (answer["change"], answer["breaking"]) == (None, None)
    assert answer["summary"] == "reaches 2 columns, 3 datasets and 4 jobs"


@pytest.mark.parametrize(
    ("since", "of_x", "of_y"),
    [
        (None, ("breaks", "takes its value from src:x (identity): it fails once the column is gone"), None),
        ("y", None, ("breaks", "takes its value from src:y (identity): it fails once the column is gone")),
        ("", ("unknown", f"reads the dataset of src:x{_UNKNOWN}"), ("unknown", f"reads the dataset of src:y{_UNKNOWN}"))
    ],
)  # fmt: skip
def test_column_lineage_of_a_deleted_target_counts_if_its_job_reports_no_other(
    client: TestClient, since: str | None, of_x: tuple[str, str] | None, of_y: tuple[str, str] | None
) -> None:
    def made(target: str, column: str) -> Body:
        lineage = columns([], a=[source("src", column, "DIRECT", "IDENTITY")])
        return dataset(target, **({"columnLineage": lineage} if column else {}))

    read = dataset("src", schema=schema(x="int", y="int"))
    post(client, ran("mint", "r-before", 20, [read], [made("t", "x")]))
    if since is not None:
        post(client, ran("mint", "r-since", 21, [read], [made("t2", since)]))
    assert client.delete("/api/v1/namespaces/lake/datasets/t").status_code == 200

    def effect_on_job(column: str) -> tuple[str, str] | None:
        reached = ask(client, nodeId="dataset:lake:src", column=column, change="drop")["reached"]
        return next(((each["effect"], each["reason"]) for each in reached if each["id"] == "job:etl:mint"), None)

    assert (effect_on_job("x"), effect_on_job("y")) == (of_x, of_y)


def test_a_summary_writes_thousands_with_a_comma(client: TestClient) -> None:
    made = columns([source("flights", "arr_delay", "INDIRECT", "SORT")])
    names = dict.fromkeys((f"c{number}" for number in range(1_000)), "int")
    wide = dataset("wide", schema=schema(**names), columnLineage=made)
    post(client, ran("widen", "r-wide", 20, [dataset("flights")], [wide]))

    summaries = [ask(client, column="arr_delay", **change)["summary"] for change in ({}, {"change": "drop"})]

    assert summaries == [
        "reaches 1,002 columns, 4 datasets and 5 jobs",
        "breaking: reaches 1,002 columns, 4 datasets and 5 jobs; 1,008 of these 1,011 break or get no more data",
    ]


def test_a_filter_reaches_every_column_of_its_target(client: TestClient) -> None:
    answer = ask(client, column="origin")

    uses = {short(reached["id"]): reached["use"] for reached in answer["reached"]}
    assert {place: use for place, use in uses.items() if ":" in place} == {
        "legs:carrier": "indirect",
        "legs:delay": "indirect",
        "delays:carrier": "indirect",
        "delays:avg_delay": "indirect",
    }


def test_the_path_shows_each_step_with_its_kind_of_edge(client: TestClient) -> None:
    answer = ask(client, column="arr_delay")

    (average,) = [reached for reached in answer["reached"] if short(reached["id"]) == "delays:avg_delay"]
    assert [
        (
            short(step["origin"]),
            short(step["destination"]),
            step["type"],
            step["subtype"],
            list(map(short, step["jobs"])),
        )
        for step in average["path"]
    ] == [
        ("flights:arr_delay", "legs:delay", "DIRECT", "IDENTITY", ["job cut"]),
        ("legs:delay", "delays:avg_delay", "DIRECT", "AGGREGATION", ["job average"]),
    ]


def test_each_reached_node_has_its_owner_its_last_run_and_its_quality(client: TestClient) -> None:
    reached = {short(each["id"]): each for each in ask(client, column="arr_delay")["reached"]}

    assert reached["delays:avg_delay"]["owners"] == [{"name": "team:planning", "type": "MAINTAINER"}]
    assert reached["job board"]["owners"] == [{"name": "team:planning", "type": "MAINTAINER"}]
    assert reached["legs"]["owners"] == []
    assert reached["delays"]["lastRun"] == {
        "id": "r3",
        "job": {"namespace": "etl", "name": "average"},
        "state": "COMPLETED",
        "startedAt": None,
        "endedAt": "2026-05-22T14:03:00.000Z",
    }
    assert get(client, "/api/v1/jobs/runs/r3")["startedAt"] is None
    assert reached["delays"]["quality"] == {
        "at": "2026-05-22T14:03:00.000Z",
        "passed": False,
        "assertions": 2,
        "failed": [{"assertion": "between", "column": "avg_delay", "severity": "error"}],
        "rowCount": None,
        "nullCount": None,
    }
    assert reached["legs"]["quality"] is None


def test_a_check_reported_by_a_reader_counts(client: TestClient) -> None:
    made = [("not_null", "delay"), ("fresh", ""), ("unique", "carrier")]
    passed = facet(assertions=[{"assertion": check, "success": True, "column": column} for check, column in made])
    measured = facet(rowCount=7, columnMetrics={"delay": {"nullCount": 2}})
    checked = {**dataset("legs"), "inputFacets": {"dataQualityAssertions": passed, "dataQualityMetrics": measured}}
    post(client, ran("check", "r6", 6, [checked], []))

    reached = {short(each["id"]): each for each in ask(client, column="arr_delay")["reached"]}

    quality = reached["legs:delay"]["quality"]
    assert (quality["passed"], quality["assertions"], quality["rowCount"], quality["nullCount"]) == (True, 2, 7, 2)


def checked_by(job: str, run: str, minute: int, check: str, column: str, *, success: bool) -> Body:
    """How dbt reports a test: a run of its own job that reads the table, with one assertion."""
    assertions = facet(assertions=[{"assertion": check, "success": success, "column": column}])
    return ran(job, run, minute, [dataset("legs", dataQualityAssertions=assertions)], [])


def quality_of_legs(client: TestClient, place: str = "legs") -> Body:
    reached = {short(each["id"]): each for each in ask(client, column="arr_delay")["reached"]}
    return reached[place]["quality"]  # type: ignore[no-any-return]


def test_a_failed_check_is_not_hidden_by_others_that_passed_later(client: TestClient) -> None:
    post(
        client,
        checked_by("not_null_delay", "t1", 6, "not_null", "delay", success=False),
        checked_by("unique_delay", "t2", 7, "unique", "delay", success=True),
        checked_by("not_null_carrier", "t3", 8, "not_null", "carrier", success=True),
    )

    of_table, of_column = quality_of_legs(client), quality_of_legs(client, "legs:delay")

    assert (of_table["passed"], of_table["assertions"], of_table["at"]) == (False, 3, "2026-05-22T14:08:00.000Z")
    assert of_table["failed"] == [{"assertion": "not_null", "column": "delay", "severity": None}]
    assert (of_column["passed"], of_column["assertions"]) == (False, 2)


def test_a_check_that_passes_again_has_passed(client: TestClient) -> None:
    post(
        client,
        checked_by("not_null_delay", "t1", 6, "not_null", "delay", success=False),
        checked_by("unique_delay", "t2", 7, "unique", "delay", success=True),
        checked_by("not_null_delay", "t3", 8, "not_null", "delay", success=True),
    )

    assert (quality_of_legs(client)["passed"], quality_of_legs(client)["assertions"]) == (True, 2)


def test_the_last_outcome_of_each_check_of_a_run_counts(client: TestClient) -> None:
    outcomes = [("not_null", False), ("unique", False), ("unique", True), ("fresh", True)]
    post(
        client,
        *(
            checked_by("checks", "t1", 6 + number, check, "delay", success=success)
            for number, (check, success) in enumerate(outcomes)
        ),
    )

    quality = quality_of_legs(client)

    assert (quality["assertions"], quality["at"]) == (3, "2026-05-22T14:09:00.000Z")
    assert quality["failed"] == [{"assertion": "not_null", "column": "delay", "severity": None}]

    gone = [dataset("legs", dataQualityAssertions=facet(_deleted=True))]
    post(client, ran("checks", "t1", 10, gone, []), checked_by("checks", "t1", 11, "fresh", "delay", success=True))

    assert (quality_of_legs(client)["passed"], quality_of_legs(client)["assertions"]) == (True, 1)


def test_checks_of_the_same_name_by_two_jobs_both_count(client: TestClient) -> None:
    post(
        client,
        checked_by("accepted_values_of_day", "t1", 6, "accepted_values", "delay", success=False),
        checked_by("accepted_values_of_night", "t2", 7, "accepted_values", "delay", success=True),
    )

    assert (quality_of_legs(client)["passed"], quality_of_legs(client)["assertions"]) == (False, 2)


def test_a_failed_check_counts_while_a_job_with_a_check_of_the_same_name_runs_again(client: TestClient) -> None:
    post(
        client,
        checked_by("accepted_values_of_day", "t1", 6, "accepted_values", "delay", success=False),
        checked_by("accepted_values_of_night", "t2", 7, "accepted_values", "delay", success=True),
        {**ran("accepted_values_of_night", "t3", 8, [dataset("legs")], []), "eventType": "START"},
    )

    assert (quality_of_legs(client)["passed"], quality_of_legs(client)["assertions"]) == (False, 2)


def test_a_check_that_an_earlier_run_reports_again_later_has_its_last_outcome(client: TestClient) -> None:
    post(
        client,
        {**ran("checks", "t1", 6, [dataset("legs")], []), "eventType": "START"},
        checked_by("checks", "t2", 7, "not_null", "delay", success=False),
        checked_by("checks", "t1", 8, "not_null", "delay", success=True),
    )

    assert (quality_of_legs(client)["passed"], quality_of_legs(client)["assertions"]) == (True, 1)


def test_a_declared_check_replaces_what_jobs_reported_of_it_before(client: TestClient) -> None:
    declared = facet(assertions=[{"assertion": "not_null", "column": "delay", "success": True}])
    post(
        client,
        checked_by("not_null_delay", "t1", 6, "not_null", "delay", success=False),
        checked_by("unique_delay", "t2", 6, "unique", "delay", success=True),
        {
            "eventTime": "2026-05-22T14:07:00Z",
            "producer": PRODUCER,
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
            "dataset": dataset("legs", dataQualityAssertions=declared),
        },
    )

    assert (quality_of_legs(client)["passed"], quality_of_legs(client)["assertions"]) == (True, 2)


def test_a_failed_check_with_an_empty_column_name_counts_for_each_column(
    client: TestClient,
) -> None:
    post(client, checked_by("has_rows", "t1", 6, "row_count", "", success=False))

    of_column = quality_of_legs(client, "legs:delay")

    assert of_column["failed"] == [{"assertion": "row_count", "column": None, "severity": None}]


def effects(answer: Body) -> dict[str, str]:
    return {short(reached["id"]): reached["effect"] for reached in answer["reached"]}


def test_a_drop_breaks_users_of_the_column_and_starves_what_is_downstream(client: TestClient) -> None:
    answer = ask(client, column="arr_delay", change="drop")

    assert effects(answer) == {
        "legs:delay": "breaks",
        "flights_copy": "unknown",
        "legs": "breaks",
        "job copy": "unknown",
        "job cut": "breaks",
        "delays:avg_delay": "starved",
        "delays": "starved",
        "job average": "starved",
        "job board": "unknown",
    }
    assert (answer["breaking"], answer["counts"]["breaking"], answer["counts"]["unknown"]) == (True, 6, 3)
    assert answer["change"] == {"kind": "drop", "to": None, "typeNow": "int"}
    words = {short(reached["id"]): reached["reason"] for reached in answer["reached"]}
    assert words["legs:delay"] == "takes its value from flights:arr_delay (identity): it fails once the column is gone"
    assert words["job copy"] == "reads the dataset of flights:arr_delay, and no event reports which columns it uses"
    assert words["delays:avg_delay"] == "takes its value from legs:delay (aggregation), which is no longer produced"


def test_a_drop_of_a_filter_column_breaks_too_and_the_reason_names_the_filter(client: TestClient) -> None:
    answer = ask(client, column="origin", change="drop")

    words = {short(reached["id"]): (reached["effect"], reached["reason"]) for reached in answer["reached"]}
    assert words["legs:carrier"] == (
        "breaks",
        "filters rows by flights:origin: it fails once the column is gone",
    )
    assert words["job cut"] == ("breaks", "filters rows by flights:origin: it fails once the column is gone")


@pytest.mark.parametrize(
    ("change", "breaking", "delay", "average"),
    [
        ("rename:arrival_delay", True, "breaks", "starved"),
        ("rename:ARR_DELAY", None, "unknown", "unknown"),
        ("rename:arr_delay", None, "unharmed", "unharmed"),
        ("retype:integer", None, "unharmed", "unharmed"),
        ("retype:bigint", None, "changed", "changed"),
        ("retype:string", True, "breaks", "starved"),
    ],
)
def test_a_change_is_judged_by_what_its_readers_can_still_read(
    client: TestClient, change: str, breaking: bool | None, delay: str, average: str
) -> None:
    answer = ask(client, column="arr_delay", change=change)

    found = effects(answer)
    assert (found["legs:delay"], found["delays:avg_delay"]) == (delay, average)
    assert answer["breaking"] is breaking  # never False here: the copy has no column lineage


def test_a_promotion_changes_what_takes_the_value_and_breaks_no_reader_with_column_lineage(client: TestClient) -> None:
    answer = get(client, "/api/v1/impact?nodeId=datasetField:lake:legs:delay&change=retype:bigint")

    assert effects(answer) == {
        "delays:avg_delay": "changed",
        "delays": "changed",
        "job average": "changed",
        "job board": "unknown",
    }


@pytest.mark.parametrize("change", ["drop", "rename:mean_delay", "retype:string"])
@pytest.mark.parametrize("reported", ["of the dataset", "of a column"])
def test_the_effect_on_a_reader_that_names_no_column_is_unknown(client: TestClient, change: str, reported: str) -> None:
    source_dataset = [{"namespace": "lake", "name": "delays", "type": "DATASET"}]
    lineage = (
        facet(inputs=source_dataset)
        if reported == "of the dataset"
        else facet(fields={"mean": {"inputs": source_dataset}})
    )
    mirror = dataset("mirror", schema=schema(mean="double"), lineage=lineage)
    post(client, ran("mirror", "r7", 7, [dataset("delays")], [mirror]))

    answer = get(client, f"/api/v1/impact?nodeId=datasetField:lake:delays:avg_delay&change={change}")
    mean = next(each for each in answer["reached"] if short(each["id"]) == "mirror:mean")

    assert (effects(answer)["mirror"], effects(answer)["job mirror"]) == ("unknown", "unknown")
    assert (mean["use"], mean["effect"], mean["breaking"]) == ("unknown", "unknown", None)
    gaps = get(client, "/api/v1/coverage?kind=edge-without-columns&namespace=lake")["gaps"]
    assert ("dataset:lake:mirror" in {gap["nodeId"] for gap in gaps}) is (reported == "of the dataset")


def test_a_reader_further_down_that_names_no_column_reads_the_dataset_of_one(client: TestClient) -> None:
    post(client, ran("mirror", "r7", 7, [dataset("delays")], [dataset("mirror")]))

    near = ask(client, nodeId="dataset:lake:delays", column="carrier", change="drop")
    far = ask(client, column="carrier", change="drop")

    assert (
        near["summary"]
        == "may break: reaches 0 columns, 1 dataset and 2 jobs; for all of these no event reports enough"
    )
    (mirror,) = [each for each in far["reached"] if short(each["id"]) == "mirror"]
    assert mirror["reason"] == f"reads the dataset of delays:avg_delay{_UNKNOWN}"


def test_a_job_that_names_its_columns_is_not_affected_by_others(client: TestClient) -> None:
    used = source("delays", "avg_delay", "INDIRECT", "FILTER") | {"type": "DATASET"}
    plain = {"namespace": "lake", "name": "flights", "type": "DATASET", "field": "origin"}
    lineage = facet(entries=[{"type": "JOB", "inputs": [used, plain]}])
    alarm = ran("alarm", "r7", 7, [dataset("delays"), dataset("flights")], [])
    post(client, {**alarm, "job": {**alarm["job"], "facets": {"lineage": lineage}}})

    def effect_on_alarm(column: str) -> tuple[str, str] | None:
        answer = get(client, f"/api/v1/impact?nodeId=datasetField:lake:{column}&change=drop&limit=100")
        found = {short(each["id"]): (each["use"], each["effect"]) for each in answer["reached"]}
        return found.get("job alarm")

    assert effect_on_alarm("delays:avg_delay") == ("indirect", "breaks")
    assert effect_on_alarm("delays:carrier") is None
    assert effect_on_alarm("flights:origin") == ("direct", "breaks")
    of_dataset = get(client, "/api/v1/impact?nodeId=dataset:lake:delays&change=drop")
    assert effects(of_dataset)["job alarm"] == "breaks"


@pytest.mark.parametrize("is_declared", [False, True])
def test_a_column_known_only_from_a_job_that_uses_it_exists(client: TestClient, is_declared: bool) -> None:
    used = {"namespace": "lake", "name": "plain", "type": "DATASET", "field": "id"}
    event = ran("alarm", "r7", 7, [dataset("plain")], [])
    event["job"]["facets"] = {"lineage": facet(entries=[{"type": "JOB", "inputs": [used]}])}
    if is_declared:
        event = without_run(event)
    post(client, ran("alarm", "r6", 6, [dataset("plain")], []), event)

    answer = ask(client, nodeId="dataset:lake:plain", column="id", change="drop")
    path_of_query = "/api/v1/column-lineage?nodeId=dataset"
    (column,) = get(client, f"{path_of_query}Field:lake:plain:id")["graph"]

    assert (effects(answer), answer["breaking"]) == ({"job alarm": "breaks"}, True)
    assert (column["data"]["field"], column["data"]["fieldType"]) == ("id", "")
    assert [node["id"] for node in get(client, f"{path_of_query}:lake:plain")["graph"]] == [column["id"]]
    assert get(client, "/api/v1/namespaces/lake/datasets/plain")["fields"] == []
    for before in ("impact?change=drop&", "column-lineage?"):
        path = f"/api/v1/{before}nodeId=datasetField:lake:plain:id"
        assert client.get(path).status_code == 200
        assert client.get(f"{path}&asOf={event['eventTime'].replace(':07', ':06')}").status_code == 404
        assert client.get(path.replace(":id", ":other")).status_code == 404


def test_a_column_known_only_from_a_job_exists_even_if_the_job_reads_the_whole_dataset_too(client: TestClient) -> None:
    plain = {"namespace": "lake", "name": "plain", "type": "DATASET"}
    event = ran("alarm", "r7", 7, [dataset("plain")], [])
    event["job"]["facets"] = {"lineage": facet(entries=[{"type": "JOB", "inputs": [plain, {**plain, "field": "id"}]}])}
    post(client, event)

    assert effects(ask(client, nodeId="dataset:lake:plain", column="id", change="drop")) == {"job alarm": "unknown"}


@pytest.mark.parametrize("is_declared", [False, True])
def test_the_columns_that_a_job_uses_may_be_reported_by_another_job(client: TestClient, is_declared: bool) -> None:
    used = source("delays", "avg_delay", "INDIRECT", "FILTER") | {"type": "DATASET"}
    lineage = facet(entries=[{"namespace": "etl", "name": "alarm", "type": "JOB", "inputs": [used]}])
    event = ran("orchestrate", "r7", 7, [], [])
    event["job"]["facets"] = {"lineage": lineage}
    if is_declared:
        event = without_run(event)
    post(client, event)

    reached = [effects(ask(client, column=column, change="drop", nodeId="dataset:lake:delays")) for column in DELAYS]

    assert [each.get("job alarm") for each in reached] == [None, "breaks"]


def data_from_job(from_job: str, to_job: str) -> Body:
    ends = [{"namespace": "etl", "name": name, "type": "JOB"} for name in (to_job, from_job)]
    return facet(entries=[{**ends[0], "inputs": [ends[1]]}])


def test_a_change_reaches_jobs_that_take_data_from_jobs(client: TestClient) -> None:
    lineage = columns([], id=[source("other", "id", "DIRECT", "IDENTITY")])
    outputs = [dataset("alerts"), dataset("told", columnLineage=lineage)]
    for job, from_job, writes in (("score", "average", []), ("alarm", "score", outputs)):
        body = ran(job, f"run {job}", 7, [dataset("other")] if writes else [], writes)
        body["job"]["facets"] = {"lineage": data_from_job(from_job, job)}
        post(client, body)

    of_column = get(client, "/api/v1/impact?nodeId=datasetField:lake:legs:delay&change=drop")
    of_job = get(client, "/api/v1/impact?nodeId=job:etl:average")

    reached = {short(each["id"]): each for each in of_column["reached"]}
    assert [(name, reached[name]["distance"]) for name in ("job average", "job score", "job alarm", "alerts")] == [
        ("job average", 1),
        ("job score", 2),
        ("job alarm", 3),
        ("alerts", 3),
    ]
    assert "told" not in reached
    assert (reached["job average"]["effect"], reached["job score"]["effect"]) == ("breaks", "unknown")
    assert reached["job score"]["reason"] == "takes data from job average, and no event reports which columns it uses"
    assert [step["origin"] for step in reached["alerts"]["path"]][1:] == [f"job:etl:{name}" for name in JOBS_BETWEEN]
    assert {short(each["id"]) for each in of_job["reached"]} == {"job board", "job score", "job alarm", "alerts"}


def test_a_deleted_job_that_takes_data_from_a_job_is_not_reached(client: TestClient) -> None:
    body = ran("score", "r-score", 7, [], [dataset("scores")])
    body["job"]["facets"] = {"lineage": data_from_job("average", "score")}
    post(client, body)
    assert client.delete("/api/v1/namespaces/etl/jobs/score").status_code == 200

    answer = get(client, "/api/v1/impact?nodeId=job:etl:average")

    assert [short(each["id"]) for each in answer["reached"]] == ["job board"]


def test_a_declared_job_with_column_lineage_is_reached_only_by_the_columns_it_names(client: TestClient) -> None:
    lineage = columns([], shown=[source("delays", "carrier", "DIRECT", "IDENTITY")])
    body = ran("show", "r-show", 7, [dataset("delays")], [dataset("shown", columnLineage=lineage)])
    post(client, without_run(body))

    reached = [effects(ask(client, column=column, change="drop", nodeId="dataset:lake:delays")) for column in DELAYS]

    assert [each.get("job show") for each in reached] == ["breaks", None]
    assert [each.get("shown") for each in reached] == ["breaks", None]


def test_a_drop_of_a_dataset_breaks_all_its_readers(client: TestClient) -> None:
    answer = ask(client, change="drop")

    found = effects(answer)
    assert (found["job copy"], found["job cut"], found["flights_copy"]) == ("breaks", "breaks", "breaks")
    assert found["delays:avg_delay"] == "starved"


def test_a_job_reaches_what_is_downstream_of_its_outputs(client: TestClient) -> None:
    answer = get(client, "/api/v1/impact?nodeId=job:etl:average")

    assert [short(reached["id"]) for reached in answer["reached"]] == ["job board"]


def test_a_change_inside_a_struct_reaches_readers_of_the_struct_and_of_the_field(client: TestClient) -> None:
    person = facet(fields=[{"name": "person", "type": "struct", "fields": [{"name": "age", "type": "int"}]}])
    lineage = columns(
        [],
        whole=[source("people", "person", "DIRECT", "IDENTITY")],
        part=[source("people", "person.age", "DIRECT", "IDENTITY")],
        other=[source("people", "person.name", "DIRECT", "IDENTITY")],
    )
    inputs, outputs = [dataset("people", schema=person)], [dataset("ages", columnLineage=lineage)]
    post(client, ran("age", "r8", 8, inputs, outputs))

    answer = get(client, "/api/v1/impact?nodeId=datasetField:lake:people:person.age&change=retype:long")

    assert {place: effect for place, effect in effects(answer).items() if ":" in place} == {
        "ages:whole": "changed",
        "ages:part": "changed",
    }
    assert answer["change"]["typeNow"] == "int"


def test_a_cycle_ends_at_the_start(client: TestClient) -> None:
    post(client, ran("loop", "r9", 9, [dataset("flights_copy")], [dataset("flights")]))

    answer = get(client, "/api/v1/impact?nodeId=dataset:lake:flights_copy&change=drop&limit=1000")

    assert "flights_copy" not in effects(answer)
    assert effects(answer)["job copy"] == "unknown"


def test_each_path_begins_at_the_changed_column_also_through_a_feedback_loop(client: TestClient) -> None:
    back = facet(fields={"delay": {"inputs": [{"namespace": "lake", "name": "model", "type": "DATASET"}]}}, inputs=[])
    post(client, ran("train", "r8", 8, [dataset("legs")], [dataset("model")]))
    post(client, ran("correct", "r9", 9, [dataset("model")], [dataset("legs", lineage=back)]))

    reached = ask(client, column="arr_delay", change="retype:long")["reached"]

    paths = {short(each["id"]): [short(step["origin"]) for step in each["path"]] for each in reached}
    assert {path[0] for path in paths.values()} == {"flights:arr_delay"}
    assert paths["model"] == ["flights:arr_delay", "legs:delay"]
    assert paths["legs:delay"] == ["flights:arr_delay", "legs:delay", "model"]


def test_deleted_nodes_and_what_only_they_lead_to_are_not_reached(client: TestClient) -> None:
    for path in ("datasets/flights_copy", "datasets/delays"):
        assert client.delete(f"/api/v1/namespaces/lake/{path}").status_code == 200
    assert client.delete("/api/v1/namespaces/etl/jobs/copy").status_code == 200

    answer = ask(client, column="arr_delay")

    reached = [short(place["id"]) for place in answer["reached"]]
    assert reached == ["legs:delay", "legs", "job cut", "job average"]


def test_a_job_reaches_nothing_through_an_output_that_was_deleted(client: TestClient) -> None:
    assert client.delete("/api/v1/namespaces/lake/datasets/legs").status_code == 200

    assert get(client, "/api/v1/impact?nodeId=job:etl:cut")["reached"] == []


def test_a_quarantined_dataset_is_not_reached(client: TestClient) -> None:
    made = facet(fields={"a": {"inputFields": [{"namespace": "lake", "name": "orders", "field": "a"}]}})
    nowhere = {"namespace": "", "name": "nowhere", "facets": {"columnLineage": made}}
    post(client, event(inputs=[dataset("orders")], outputs=[nowhere]))

    reached = get(client, "/api/v1/impact?nodeId=dataset:lake:orders")["reached"]
    columns = get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:orders:a&withDownstream=true")["graph"]

    assert [each["id"] for each in reached] == ["job:etl:load"]
    assert [each["id"] for each in columns] == ["datasetField:lake:orders:a"]


def test_a_page_lists_a_part_and_counts_all(client: TestClient) -> None:
    everything = ask(client, column="arr_delay")

    page = ask(client, column="arr_delay", limit="2", offset="3")

    assert page["reached"] == everything["reached"][3:5]
    assert page["totalCount"] == 9


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("nodeId=dataset:lake:flights&column=none", 404, "Field 'none' of dataset 'flights' not found."),
        ("nodeId=job:etl:cut&column=a", 400, "column: only a dataset has columns"),
        ("nodeId=job:etl:cut&change=drop", 400, "change: a job has no columns"),
        ("nodeId=dataset:lake:flights&change=retype:int", 400, "change: only a column has a type"),
        ("nodeId=dataset:lake:flights&column=origin&change=rename:carrier", 400, "change: flights has a column"),
        ("nodeId=dataset:lake:flights&change=burn", 400, "change: expected drop, rename:NEW or retype:TYPE"),
    ],
)
def test_an_impossible_query_is_refused_with_advice(client: TestClient, query: str, status: int, message: str) -> None:
    answer = client.get(f"/api/v1/impact?{query}")

    assert answer.status_code == status
    assert answer.json()["message"].startswith(message)


def test_a_dataset_reported_without_sources_is_not_reached(client: TestClient) -> None:
    src, marked, made = ({"namespace": "lake", "name": name, "type": "DATASET"} for name in ("src", "marked", "made"))
    lineage = facet(entries=[{**marked, "inputs": [src]}, {**made, "inputs": []}])
    post(client, ran("both", "r9", 9, [dataset("src")], [dataset("marked"), dataset("made")], lineage=lineage))

    answer = ask(client, nodeId="dataset:lake:src")

    # "An empty array explicitly means that the target has no tracked upstream source": LineageFacet.json
    assert {short(reached["id"]) for reached in answer["reached"]} == {"marked", "job both"}


def test_column_lineage_of_one_job_does_not_count_for_another_job_with_the_same_target(client: TestClient) -> None:
    lineage = columns([], x=[source("a", "x", "DIRECT", "IDENTITY")])
    post(client, ran("telling", "r8", 8, [dataset("a")], [dataset("shared", columnLineage=lineage)]))
    post(client, ran("silent", "r9", 9, [dataset("b")], [dataset("shared")]))

    reached = {name: ask(client, nodeId=f"dataset:lake:{name}")["reached"] for name in "ab"}

    uses = {name: {short(each["id"]): each["use"] for each in places} for name, places in reached.items()}
    assert uses["b"] == {"shared": "unknown", "job silent": "unknown"}
    assert uses["a"] == {"shared:x": "direct", "shared": "direct", "job telling": "direct"}


@pytest.mark.parametrize("is_declared", [True, False])
def test_of_two_jobs_with_the_same_source_and_target_each_is_reached_by_the_columns_that_it_names(
    client: TestClient, is_declared: bool
) -> None:
    for second, column in enumerate(DELAYS, 7):
        lineage = columns([], **{f"{column}s": [source("delays", column, "DIRECT", "IDENTITY")]})
        body = ran(
            f"by_{column}", f"r-{column}", second, [dataset("delays")], [dataset("shown", columnLineage=lineage)]
        )
        left_out = ("run", "eventType") if is_declared else ()
        post(client, {member: value for member, value in body.items() if member not in left_out})
    post(client, ran("silent", "r-silent", 9, [dataset("delays")], [dataset("shown")]))

    reached = [effects(ask(client, column=column, change="drop", nodeId="dataset:lake:delays")) for column in DELAYS]

    jobs = [{name: each.get(f"job {name}") for name in ("by_carrier", "by_avg_delay", "silent")} for each in reached]
    assert jobs == [
        {"by_carrier": "breaks", "by_avg_delay": None, "silent": "unknown"},
        {"by_carrier": None, "by_avg_delay": "breaks", "silent": "unknown"},
    ]


def test_lineage_of_a_dataset_does_not_extend_the_lineage_of_its_fields(client: TestClient) -> None:
    def of(name: str, **members: object) -> dict[str, object]:
        return {"namespace": "lake", "name": name, "type": "DATASET", **members}

    # the example of "Mixed granularity" in the guide to the explicit lineage facets
    grouped = of("input_a", field="group_by_col", transformations=[{"type": "INDIRECT", "subtype": "GROUP_BY"}])
    fields = {"col1": {"inputs": [of("input_a", field="col_a")]}, "col2": {"inputs": [of("lookup")]}}
    entry = of("output_x", inputs=[of("input_a"), of("lookup"), grouped], fields=fields)
    read = [
        dataset("input_a", schema=schema(col_a="int", group_by_col="int")),
        dataset("lookup", schema=schema(z="int")),
    ]
    made = dataset("output_x", schema=schema(col1="int", col2="int"))
    post(client, ran("mixed", "r9", 9, read, [made], lineage=facet(entries=[entry])))

    of_a, of_z, of_group = (
        {short(each["id"]) for each in ask(client, nodeId=f"datasetField:lake:{column}")["reached"]}
        for column in ("input_a:col_a", "lookup:z", "input_a:group_by_col")
    )
    graph = get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:output_x:col1")["graph"]

    assert of_a == {"output_x:col1", "output_x", "job mixed"}
    assert of_z == {"output_x:col2", "output_x", "job mixed"}
    assert of_group == {"output_x:col1", "output_x:col2", "output_x", "job mixed"}
    assert {short(node["id"]) for node in graph} == {"output_x:col1", "input_a:col_a", "input_a:group_by_col"}


def test_a_field_inside_a_column_reaches_what_the_column_reaches(client: TestClient) -> None:
    inner = facet(fields=[{"name": "s", "type": "struct", "fields": [{"name": "a.b", "type": "int"}]}])
    lineage = columns([], x=[source("nested", "s", "DIRECT", "TRANSFORMATION")])
    post(client, ran("flat", "r9", 9, [dataset("nested", schema=inner)], [dataset("out", columnLineage=lineage)]))

    answer = ask(client, nodeId="datasetField:lake:nested:s.a.b", change="drop")

    assert {short(each["id"]): each["use"] for each in answer["reached"]} == {
        "out:x": "direct",
        "out": "direct",
        "job flat": "direct",
    }
    assert client.get("/api/v1/impact?nodeId=datasetField:lake:nested:s.a").status_code == 404
    assert get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:nested:s.a.b")["graph"][0]["inEdges"] == []


@pytest.fixture
def priced(tmp_path: Path) -> Iterator[TestClient]:
    """A catalog has names in capitals; the parser of the queries has them as written there."""
    address = {"name": "ADDR", "type": "struct", "fields": [{"name": "ZIP", "type": "string"}]}
    raw = facet(fields=[{"name": "PRICE", "type": "int"}, address, *({"name": name} for name in ("both", "BOTH"))])
    lineage = columns(
        [],
        price=[source("raw", "price", "DIRECT", "IDENTITY")],
        zip=[source("raw", "addr.zip", "DIRECT", "IDENTITY")],
        place=[source("raw", "addr", "DIRECT", "IDENTITY")],
        both=[source("raw", "both", "DIRECT", "IDENTITY")],
    )
    total = columns([], TOTAL=[source("mid", "PRICE", "DIRECT", "AGGREGATION")])
    with served(tmp_path) as client:
        post(
            client,
            ran("load", "r1", 1, [dataset("raw", schema=raw)], [dataset("mid", columnLineage=lineage)]),
            ran("sum", "r2", 2, [dataset("mid", schema=schema(PRICE="int"))], [dataset("sums", columnLineage=total)]),
        )
        yield client


def of_raw(client: TestClient, column: str, change: str) -> tuple[bool | None, dict[str, str]]:
    answer = ask(client, nodeId="dataset:lake:raw", column=column, change=change)
    return answer["breaking"], {place: effect for place, effect in effects(answer).items() if "job" not in place}


@pytest.mark.parametrize("change", ["drop", "rename:cost", "rename:price", "retype:string"])
def test_the_effect_on_a_name_that_differs_only_in_case_is_unknown(priced: TestClient, change: str) -> None:
    breaking, found = of_raw(priced, "PRICE", change)

    assert (breaking, {*found.values()}) == (None, {"unknown"})
    assert found.keys() == {"mid:price", "mid", "sums:TOTAL", "sums"}


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("ADDR.ZIP", {"mid:zip": "unknown", "mid:place": "unknown", "mid": "unknown"}),
        ("ADDR", {"mid:zip": "unknown", "mid:place": "unknown", "mid": "unknown"}),
        ("addr.zip", {"mid:zip": "breaks", "mid:place": "unknown", "mid": "breaks"}),
        ("both", {"mid:both": "breaks", "mid": "breaks"}),
        ("BOTH", {}),
    ],
)
def test_case_also_matters_inside_structs_unless_the_schema_has_both_names(
    priced: TestClient, column: str, expected: dict[str, str]
) -> None:
    breaking, found = of_raw(priced, column, "drop")

    assert found == expected
    assert breaking is (None if "breaks" not in expected.values() and expected else "breaks" in expected.values())


def test_a_promotion_breaks_nothing_whatever_the_case_of_the_name(priced: TestClient) -> None:
    assert of_raw(priced, "PRICE", "retype:long")[1]["mid:price"] == "changed"


def test_the_reason_mentions_that_only_the_case_differs(priced: TestClient) -> None:
    answer = ask(priced, nodeId="dataset:lake:raw", column="PRICE", change="drop")

    reasons = {short(each["id"]): each["reason"] for each in answer["reached"]}
    assert reasons["mid:price"] == (
        "takes its value from raw:price (identity): only the case differs from PRICE, which case-insensitive engines "
        "ignore"
    )
    assert reasons["sums:TOTAL"] == "takes its value from mid:PRICE (aggregation), which may or may not be produced"


def test_a_job_may_name_the_columns_it_uses_in_another_case(priced: TestClient) -> None:
    used = source("raw", "Price", "INDIRECT", "FILTER") | {"type": "DATASET"}
    lineage = facet(entries=[{"type": "JOB", "inputs": [used]}])
    post(priced, ran("alarm", "r3", 3, [dataset("raw")], [], lineage=lineage))

    answer = ask(priced, nodeId="dataset:lake:raw", column="PRICE", change="drop")

    assert effects(answer)["job alarm"] == "unknown"


@pytest.mark.parametrize("column", ["carrier", "Carrier"])
def test_a_column_is_followed_in_the_first_query_of_a_process(tmp_path: Path, column: str) -> None:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        events = (parse_event(json.dumps(event).encode()) for event in FLIGHTS)
        store.add([entry_of(event, "unsigned", None, 0) for event in events])
        knowledge = Knowledge(store, Graph(store.content))
        knowledge.load()

        answer = asyncio.run(impact(knowledge, ColumnId(DatasetId("lake", "legs"), column), None, Page(10)))

    assert "delays:carrier" in {short(each["id"]) for each in answer["reached"]}


def part(name: str, *, old: bool = False, source_name: str = "in") -> Body:
    """A dataset `name` with the column `id` and, if it is `old`, the column `x`, each from `source_name`."""
    sources = {"id": [source(source_name, "id", "DIRECT", "IDENTITY")]}
    if old:
        sources["x"] = [source(source_name, "x", "DIRECT", "IDENTITY")]
    return dataset(name, schema=schema(**dict.fromkeys(sources, "int")), columnLineage=columns([], **sources))


IN = dataset("in", schema=schema(id="int", x="int"))


def run_of(
    job: str, minute: int, inputs: list[Body], outputs: list[Body], *, end: str = "COMPLETE", **facets: object
) -> list[Body]:
    """A run that reports all its inputs and outputs at its start and twenty seconds later."""
    complete = ran(job, f"{job} {minute}", minute, inputs, outputs, **facets)
    times = (f"2026-05-22T14:{minute:02d}:{second:02d}Z" for second in (0, 20))
    return [complete | {"eventType": kind, "eventTime": time} for kind, time in zip(("START", end), times, strict=True)]


STREAM = facet(processingType="STREAMING", integration="FLINK")


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        yield client


def drop(client: TestClient, column: str | None = "x", **query: str) -> tuple[bool | None, dict[str, str]]:
    parameters = {"nodeId": "dataset:lake:in", "change": "drop", **query, **({"column": column} if column else {})}
    answer = get(client, f"/api/v1/impact?{urlencode(parameters)}")
    return answer["breaking"], effects(answer)


def test_a_use_that_later_runs_of_the_job_no_longer_report_does_not_break(empty: TestClient) -> None:
    events = run_of("make", 1, [IN], [part("out", old=True)])
    events += run_of("show", 2, [dataset("out")], [dataset("shown", columnLineage=part("out", old=True)["facets"])])
    for minute in (3, 4, 5):
        events += run_of("make", minute, [IN], [part("out")])
    post(empty, *events)

    answer = ask(empty, nodeId="dataset:lake:in", column="x", change="drop")

    assert (answer["breaking"], answer["counts"]["breaking"], answer["counts"]["unknown"]) == (False, 0, 0)
    assert {"out:x", "out", "job make"} <= {short(each["id"]) for each in answer["reached"]}
    (made,) = [each for each in answer["reached"] if short(each["id"]) == "out:x"]
    assert made["path"][-1]["lastSeen"] == "2026-05-22T14:01:20.000Z"
    assert (made["effect"], made["reason"]) == (
        "unharmed",
        "takes its value from in:x (identity), as reported until 2026-05-22T14:01:20.000Z: 3 runs since do not use it",
    )
    assert drop(empty, "id")[1]["out:id"] == "breaks"
    assert drop(empty, None)[1]["job make"] == "breaks"  # it still reads the dataset


def test_as_of_a_time_before_it_ended_the_use_counts(empty: TestClient) -> None:
    events = run_of("make", 1, [IN], [part("out", old=True)])
    post(empty, *events, *run_of("make", 3, [IN], [part("out")]))

    assert drop(empty, asOf="2026-05-22T14:02:00Z")[0] is True
    assert drop(empty, asOf="2026-05-22T14:03:10Z")[0] is True  # it is running
    assert drop(empty, asOf="2026-05-22T14:04:00Z")[0] is False


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("later", "breaking"),
    [
        pytest.param([], True, id="it has not run since"),
        pytest.param(run_of("make", 3, [IN], [part("out")]), False, id="has columns, but not this one"),
        pytest.param(run_of("make", 3, [IN], [part("out")], end="FAIL"), True, id="it failed"),
        pytest.param(run_of("make", 3, [IN], [part("out")])[:1], True, id="it is still running"),
        pytest.param(run_of("make", 3, [IN], [dataset("out")]), None, id="has no columns"),
        pytest.param(run_of("make", 3, [dataset("in2")], [dataset("out")]), False, id="reads another"),
        pytest.param(run_of("make", 3, [], [dataset("out")]), None, id="reports no inputs"),
        pytest.param(run_of("make", 3, [IN], [part("out2")]), True, id="writes another"),
        pytest.param(run_of("other", 3, [IN], [part("out")]), True, id="another job"),
        pytest.param(
            [*run_of("make", 3, [IN], [part("out")]), *run_of("make", 4, [IN], [part("out", old=True)])],
            True,
            id="and uses it again",
        ),
        pytest.param(
            [*run_of("make", 3, [IN], [part("out")]), *run_of("make", 4, [IN], [part("out", old=True)], end="FAIL")],
            True,
            id="and a run that failed used it again",
        ),
        pytest.param(
            [*run_of("make", 3, [IN], [part("out")]), *run_of("other", 2, [IN], [part("out", old=True)])],
            True,
            id="another job still uses it",
        ),
        pytest.param(
            [*run_of("make", 3, [IN], [part("out")]), *run_of("make", 4, [IN], [dataset("out")])],
            False,
            id="first has columns without it, then none",
        ),
    ],
)
def test_a_use_is_ended_only_by_later_completed_runs_of_its_job_with_column_lineage(
    empty: TestClient, later: list[Body], breaking: bool | None, order: int
) -> None:
    post(empty, *[*run_of("make", 1, [IN], [part("out", old=True)]), *later][::order])

    assert drop(empty)[0] is breaking


def test_each_of_two_jobs_that_make_one_dataset_is_judged_by_its_own_runs(empty: TestClient) -> None:
    for job in ("make", "other"):
        post(empty, *run_of(job, 1, [IN], [part("out", old=True)]))
    post(empty, *run_of("make", 3, [IN], [part("out")]))

    breaking, found = drop(empty)

    assert breaking is True
    assert (found["job make"], found["job other"], found["out:x"]) == ("unharmed", "breaks", "breaks")


@pytest.mark.parametrize("column", ["x", None])
@pytest.mark.parametrize("outputs", [[], [dataset("out")]])
def test_a_use_is_ended_by_runs_that_read_another_dataset(
    empty: TestClient, outputs: list[Body], column: str | None
) -> None:
    events = run_of("make", 1, [IN], outputs)
    for minute in (3, 4):
        events += run_of("make", minute, [dataset("in2")], outputs)
    post(empty, *events)

    answer = ask(empty, nodeId="dataset:lake:in", change="drop", **({"column": column} if column else {}))

    assert answer["breaking"] is False
    (job,) = [each for each in answer["reached"] if each["type"] == "JOB"]
    read = "the dataset of in:x" if column else "in"
    assert job["reason"] == f"reads {read}, as reported until 2026-05-22T14:01:20.000Z: 2 runs since do not use it"
    assert job["path"][-1]["lastSeen"] == "2026-05-22T14:01:20.000Z"


def test_a_run_without_a_use_is_counted_once(empty: TestClient) -> None:
    other = dataset("out", columnLineage=columns([], id=[source("in2", "id", "DIRECT", "IDENTITY")]))
    post(empty, *run_of("make", 1, [IN], [part("out")]), *run_of("make", 3, [dataset("in2")], [other]))
    post(empty, *run_of("show", 1, [IN], [dataset("out2"), dataset("out3")]))
    post(empty, *run_of("show", 3, [dataset("in2")], [dataset("out2"), dataset("out3")]))

    answer = ask(empty, nodeId="dataset:lake:in", change="drop")

    reasons = {short(each["id"]): each["reason"].rpartition(": ")[2] for each in answer["reached"]}
    assert {"out", "out2", "job make", "job show"} <= reasons.keys()
    assert {*reasons.values()} == {"1 run since does not use it"}


def test_a_job_that_copies_one_dataset_per_run_still_uses_each(empty: TestClient) -> None:
    events = run_of("copy", 1, [IN], [dataset("out")])
    post(empty, *events, *run_of("copy", 3, [dataset("in2")], [dataset("out2")]))

    breaking, found = drop(empty, None)

    assert (breaking, found) == (True, {place: "breaks" for place in ("out", "out2", "job copy")})


def test_an_output_added_after_a_job_changed_its_input_does_not_come_from_the_old_input(empty: TestClient) -> None:
    events = run_of("make", 1, [IN], [dataset("out")])
    post(empty, *events, *run_of("make", 3, [dataset("in2")], [dataset("out"), dataset("out2")]))

    breaking, found = drop(empty, None)

    assert (breaking, found) == (False, {place: "unharmed" for place in ("out", "out2", "job make")})


def test_a_use_of_a_running_stream_counts_until_a_newer_run_has_replaced_it(empty: TestClient) -> None:
    first = run_of("make", 1, [IN], [part("out", old=True)], end="RUNNING", jobType=STREAM)
    second = run_of("make", 3, [IN], [part("out")], end="RUNNING", jobType=STREAM)
    stopped = run_of("make", 1, [IN], [part("out", old=True)], end="ABORT", jobType=STREAM)[1:]

    post(empty, *first, *second)
    while_both_run = drop(empty)[0]
    post(empty, *stopped)

    assert (while_both_run, drop(empty)[0]) == (True, False)


def test_a_declared_use_is_not_ended_by_runs(empty: TestClient) -> None:
    declared = run_of("make", 1, [IN], [part("out", old=True)])[0]
    declared = without_run(declared)
    post(empty, declared, *run_of("make", 3, [IN], [part("out")]))

    assert drop(empty)[0] is True
    assert drop(empty, None)[0] is True


def test_an_ended_use_downstream_of_a_use_that_counts_does_not_break(empty: TestClient) -> None:
    shown = dataset("shown", columnLineage=columns([], x=[source("out", "x", "DIRECT", "IDENTITY")]))
    other = dataset("shown", columnLineage=columns([], id=[source("out", "id", "DIRECT", "IDENTITY")]))
    events = [*run_of("make", 1, [IN], [part("out", old=True)]), *run_of("show", 2, [dataset("out")], [shown])]
    post(empty, *events, *run_of("show", 3, [dataset("out")], [other]))

    breaking, found = drop(empty)

    assert (breaking, found["out:x"], found["shown:x"], found["job show"]) == (True, "breaks", "unharmed", "unharmed")


def test_a_column_may_be_renamed_back_although_a_job_still_uses_that_name(empty: TestClient) -> None:
    renamed = dataset("in", schema=schema(id="int", y="int"))
    made = dataset(
        "out", schema=schema(id="int"), columnLineage=columns([], id=[source("in", "y", "DIRECT", "IDENTITY")])
    )
    post(empty, *run_of("late", 1, [IN], [part("late", old=True)]), *run_of("job", 2, [renamed], [made]))

    query = {"nodeId": "dataset:lake:in", "column": "y", "change": "rename:x"}
    answer = get(empty, f"/api/v1/impact?{urlencode(query)}")

    assert effects(answer) == {"out:id": "breaks", "out": "breaks", "job job": "breaks"}


def test_of_two_datasets_with_one_name_the_reasons_have_the_namespaces(client: TestClient) -> None:
    for number, namespace in enumerate(("lake-a", "lake-b")):
        copied = {**dataset("copied", columnLineage=made_from("lake", "shared")), "namespace": namespace}
        post(client, completed(f"copy-{number}", [dataset("shared")], [copied]))
        used = dataset(f"used_{number}", columnLineage=made_from(namespace, "copied"))
        post(client, completed(f"use-{number}", [{**dataset("copied"), "namespace": namespace}], [used]))

    answer = get(client, "/api/v1/impact?nodeId=datasetField:lake:shared:id&change=drop")

    reasons = {each["name"]: each["reason"] for each in answer["reached"] if each["type"] == "DATASET_FIELD"}
    assert reasons["copied"] == "takes its value from shared:id (identity): it fails once the column is gone"
    assert reasons["used_0"] == "takes its value from lake-a:copied:id (identity), which is no longer produced"
    assert reasons["used_1"] == "takes its value from lake-b:copied:id (identity), which is no longer produced"


def made_from(namespace: str, name: str) -> Body:
    kinds = [{"type": "DIRECT", "subtype": "IDENTITY"}]
    source = {"namespace": namespace, "name": name, "field": "id", "transformations": kinds}
    return facet(fields={"id": {"inputFields": [source]}})


def completed(job: str, inputs: list[Body], outputs: list[Body]) -> Body:
    about = {"run": {"runId": job}, "job": {"namespace": "etl", "name": job}}
    return event(eventType="COMPLETE", inputs=inputs, outputs=outputs, **about)
