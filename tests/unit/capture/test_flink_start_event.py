"""What a submitted Flink job reads and writes, as an event."""

import json
from typing import Any

import pytest

from headwater.capture.flink.start_event import Submitted, flow_of, start_event
from headwater.model.events import parse_event
from headwater.model.names import JobId

_ABOUT = Submitted("6b6a1f0b6c2f4e0f8a1d5f0c2b3e4d5a", "orders", 1_763_783_277_777, False, "2.1.3")


def _column(name: str, **more: object) -> dict[str, Any]:
    return {"name": name, "type": "BIGINT", "persisted": True, "computed": False, **more}


def _topic(name: str, *columns: dict[str, Any], connector: str = "kafka") -> dict[str, Any]:
    options = {"connector": connector, "topic": name, "properties.bootstrap.servers": "broker:9092"}
    return {"name": ["c", "d", name], "options": options, "columns": list(columns)}


def _write(source: dict[str, Any], target: dict[str, Any], *picked: int) -> dict[str, Any]:
    """A statement that picks columns of the source, by their places."""
    names = [column["name"] for column in source["columns"]]
    scan = {"kind": "LogicalTableScan", "columns": names, "table": source["name"]}
    expressions = [{"kind": "input", "index": place} for place in picked]
    columns = [column["name"] for column in target["columns"]]
    project = {"kind": "LogicalProject", "columns": columns, "inputs": [scan], "expressions": expressions}
    return {"tree": project, "tables": [source], "target": target, "columns": columns}


def _told(*writes: dict[str, Any], unseen: tuple[str, ...] = (), sql: str | None = None) -> dict[str, Any]:
    raw = start_event(JobId("flink-jobs", "orders"), _ABOUT, flow_of(writes, unseen), sql)
    parse_event(raw)
    event: dict[str, Any] = json.loads(raw)
    return event


def _fields(output: dict[str, Any]) -> dict[str, list[str]]:
    lineage = output["facets"]["columnLineage"]["fields"]
    return {name: [f"{one['name']}.{one['field']}" for one in said["inputFields"]] for name, said in lineage.items()}


def test_the_start_of_a_job_is_told_with_the_listeners_run_id_and_its_own_start() -> None:
    event = _told(_write(_topic("a", _column("x")), _topic("b", _column("y")), 0), sql="INSERT INTO b SELECT x FROM a")

    assert (event["eventType"], event["eventTime"]) == ("START", "2025-11-22T03:47:57.777000Z")
    assert event["run"]["runId"] == "019aa9ac-fcd1-7088-9606-cef5ca2e648f"
    assert event["job"]["facets"]["sql"]["query"] == "INSERT INTO b SELECT x FROM a"
    assert event["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    assert "extractionError" not in event["run"]["facets"]


def test_statements_of_one_set_that_write_to_one_table_are_one_output_with_the_inputs_of_all() -> None:
    target = _topic("t", _column("p"), _column("q"))
    first, second = _topic("a", _column("x"), _column("y")), _topic("b", _column("z"))

    event = _told(_write(first, target, 0, 1), _write(second, target, 0, 0))

    (output,) = event["outputs"]
    assert [one["name"] for one in event["inputs"]] == ["a", "b"]
    assert _fields(output) == {"p": ["a.x", "b.z"], "q": ["a.y", "b.z"]}


def test_metadata_is_a_field_by_the_connectors_name_and_what_flink_computes_is_none() -> None:
    source = _topic("a", _column("at", metadata="timestamp"), _column("now", computed=True, persisted=False))

    event = _told(_write(source, _topic("t", _column("p"), _column("q")), 0, 1))

    assert _fields(event["outputs"][0]) == {"p": ["a.timestamp"], "q": []}
    assert event["inputs"][0]["facets"]["schema"].get("fields", []) == []


def test_what_cannot_be_named_or_seen_through_is_counted_in_the_run_and_never_invented() -> None:
    strange = _topic("s", _column("x"), connector="faker")

    event = _told(_write(strange, _topic("t", _column("p")), 0), unseen=("DataStream", "DataStream"))

    errors = event["run"]["facets"]["extractionError"]
    assert "inputs" not in event
    assert _fields(event["outputs"][0]) == {"p": []}
    assert (errors["totalTasks"], errors["failedTasks"]) == (2, 2)
    assert [one["errorMessage"] for one in errors["errors"]] == [
        "a DataStream program is not analysed: OpenLineage's listener reports its datasets",
        "cannot name a table of the connector 'faker'",
    ]


def test_a_topic_whose_records_are_only_counted_is_what_the_output_is_made_from() -> None:
    source, target = _topic("a", _column("x")), _topic("t", _column("n"))
    counted = _write(source, target)
    counted["tree"]["expressions"] = [{"kind": "literal"}]

    event = _told(counted)

    assert [one["name"] for one in event["inputs"]] == ["a"]
    assert "columnLineage" not in event["outputs"][0]["facets"]


def test_a_column_of_which_nothing_is_known_is_not_told_as_made_from_nothing() -> None:
    source, target = _topic("a", _column("x")), _topic("t", _column("p"), _column("q"))
    strange = _write(source, target, 0)
    strange["tree"]["expressions"].append({"kind": "unknown", "class": "RexSomething"})

    event = _told(strange)

    assert _fields(event["outputs"][0]) == {"p": ["a.x"]}
    assert event["run"]["facets"]["extractionError"]["failedTasks"] == 1


def test_one_table_under_two_hints_is_two_topics() -> None:
    other = {**_topic("a", _column("x")), "name": ["c", "d", "a", "topic=b"]}
    other["options"] = {**other["options"], "topic": "b"}
    target = _topic("t", _column("p"))

    event = _told(_write(_topic("a", _column("x")), target, 0), _write(other, target, 0))

    assert [one["name"] for one in event["inputs"]] == ["a", "b"]
    assert _fields(event["outputs"][0]) == {"p": ["a.x", "b.x"]}


@pytest.mark.parametrize(
    "option",
    [
        "'password' = 'hunter2'",
        "'password' /* of ann's */ = -- kept\n 'hunter2'",
        "'password' = U&'hunter2'",
        "'password' = 'one' \n 'hunter2'",
        "'path' = 's3://ann:hunter2@lake/raw'",
    ],
)
def test_a_secret_among_the_options_is_not_told_however_it_is_written(option: str) -> None:
    sql = f"INSERT INTO b SELECT x FROM a /*+ OPTIONS({option}, 'topic' = 'orders') */"  # noqa: S608  (not run)

    event = _told(_write(_topic("a", _column("x")), _topic("b", _column("y")), 0), sql=sql)

    said = event["job"]["facets"]["sql"]["query"]
    assert "hunter2" not in said
    assert "'topic' = 'orders'" in said
