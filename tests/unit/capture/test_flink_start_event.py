"""The START event of a submitted Flink job."""

import json
from typing import Any

import pytest

from headwater.capture.flink.start_event import Submitted, flow_of, start_event
from headwater.model.events import parse_event
from headwater.model.names import JobId

_SUBMITTED = Submitted("6b6a1f0b6c2f4e0f8a1d5f0c2b3e4d5a", "orders", 1_763_783_277_777, False, "2.1.3")


def _column(name: str, **members: object) -> dict[str, Any]:
    return {"name": name, "type": "BIGINT", "persisted": True, "computed": False, **members}


def _topic(name: str, *columns: dict[str, Any], connector: str = "kafka") -> dict[str, Any]:
    options = {"connector": connector, "topic": name, "properties.bootstrap.servers": "broker:9092"}
    return {"name": ["c", "d", name], "options": options, "columns": list(columns)}


def _write(source: dict[str, Any], target: dict[str, Any], *indexes: int) -> dict[str, Any]:
    """A statement that selects columns of the source, by index."""
    names = [column["name"] for column in source["columns"]]
    scan = {"kind": "LogicalTableScan", "columns": names, "table": source["name"]}
    expressions = [{"kind": "input", "index": index} for index in indexes]
    columns = [column["name"] for column in target["columns"]]
    project = {"kind": "LogicalProject", "columns": columns, "inputs": [scan], "expressions": expressions}
    return {"tree": project, "tables": [source], "target": target, "columns": columns}


def _start_event(*writes: dict[str, Any], unseen: tuple[str, ...] = (), sql: str | None = None) -> dict[str, Any]:
    raw = start_event(JobId("flink-jobs", "orders"), _SUBMITTED, flow_of(writes, unseen), sql)
    parse_event(raw)
    event: dict[str, Any] = json.loads(raw)
    return event


def _fields(output: dict[str, Any]) -> dict[str, list[str]]:
    lineage = output["facets"]["columnLineage"]["fields"]
    return {
        name: [f"{each['name']}.{each['field']}" for each in inputs["inputFields"]] for name, inputs in lineage.items()
    }


def test_the_start_of_a_job_has_the_listeners_run_id_and_the_jobs_start_time() -> None:
    event = _start_event(
        _write(_topic("a", _column("x")), _topic("b", _column("y")), 0), sql="INSERT INTO b SELECT x FROM a"
    )

    assert (event["eventType"], event["eventTime"]) == ("START", "2025-11-22T03:47:57.777000Z")
    assert event["run"]["runId"] == "019aa9ac-fcd1-7088-9606-cef5ca2e648f"
    assert event["job"]["facets"]["sql"]["query"] == "INSERT INTO b SELECT x FROM a"
    assert event["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    assert "extractionError" not in event["run"]["facets"]


def test_statements_of_a_set_that_write_one_table_are_one_output_with_all_their_inputs() -> None:
    target = _topic("t", _column("p"), _column("q"))
    first, second = _topic("a", _column("x"), _column("y")), _topic("b", _column("z"))

    event = _start_event(_write(first, target, 0, 1), _write(second, target, 0, 0))

    (output,) = event["outputs"]
    assert [each["name"] for each in event["inputs"]] == ["a", "b"]
    assert _fields(output) == {"p": ["a.x", "b.z"], "q": ["a.y", "b.z"]}


def test_metadata_is_a_field_by_the_connectors_name_and_computed_columns_are_not_fields() -> None:
    source = _topic("a", _column("at", metadata="timestamp"), _column("now", computed=True, persisted=False))

    event = _start_event(_write(source, _topic("t", _column("p"), _column("q")), 0, 1))

    assert _fields(event["outputs"][0]) == {"p": ["a.timestamp"], "q": []}
    assert event["inputs"][0]["facets"]["schema"].get("fields", []) == []


def test_tables_that_cannot_be_named_and_programs_that_cannot_be_analysed_are_counted_as_errors() -> None:
    unnamed = _topic("s", _column("x"), connector="faker")

    event = _start_event(_write(unnamed, _topic("t", _column("p")), 0), unseen=("DataStream", "DataStream"))

    errors = event["run"]["facets"]["extractionError"]
    assert "inputs" not in event
    assert "columnLineage" not in event["outputs"][0]["facets"]
    assert (errors["totalTasks"], errors["failedTasks"]) == (2, 2)
    assert [each["errorMessage"] for each in errors["errors"]] == [
        "a DataStream program is not analysed: OpenLineage's listener reports its datasets",
        "cannot name a table of the connector 'faker'",
    ]


def test_columns_of_a_table_that_cannot_be_named_are_unknown_and_generated_ones_have_no_inputs() -> None:
    target = _topic("t", _column("p"), _column("q"))

    unnamed, generated = (
        _write(_topic("s", _column("x"), connector=connector), target, 0) for connector in ("faker", "datagen")
    )
    for each in (unnamed, generated):
        each["tree"]["expressions"].append({"kind": "literal"})

    assert _fields(_start_event(unnamed)["outputs"][0]) == {"q": []}
    assert _fields(_start_event(generated)["outputs"][0]) == {"p": [], "q": []}


def test_a_topic_whose_records_are_only_counted_is_an_input() -> None:
    source, target = _topic("a", _column("x")), _topic("t", _column("n"))
    counted = _write(source, target)
    counted["tree"]["expressions"] = [{"kind": "literal"}]

    event = _start_event(counted)

    assert [each["name"] for each in event["inputs"]] == ["a"]
    assert "columnLineage" not in event["outputs"][0]["facets"]


def test_a_column_with_unknown_inputs_is_not_reported_as_without_inputs() -> None:
    source, target = _topic("a", _column("x")), _topic("t", _column("p"), _column("q"))
    partly_unknown = _write(source, target, 0)
    partly_unknown["tree"]["expressions"].append({"kind": "unknown", "class": "RexSomething"})

    event = _start_event(partly_unknown)

    assert _fields(event["outputs"][0]) == {"p": ["a.x"]}
    assert event["run"]["facets"]["extractionError"]["failedTasks"] == 1


def test_one_table_under_two_hints_is_two_topics() -> None:
    other = {**_topic("a", _column("x")), "name": ["c", "d", "a", "topic=b"]}
    other["options"] = {**other["options"], "topic": "b"}
    target = _topic("t", _column("p"))

    event = _start_event(_write(_topic("a", _column("x")), target, 0), _write(other, target, 0))

    assert [each["name"] for each in event["inputs"]] == ["a", "b"]
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
def test_a_secret_among_the_options_is_hidden_however_it_is_written(option: str) -> None:
    sql = f"INSERT INTO b SELECT x FROM a /*+ OPTIONS({option}, 'topic' = 'orders') */"  # noqa: S608  (not run)

    event = _start_event(_write(_topic("a", _column("x")), _topic("b", _column("y")), 0), sql=sql)

    query = event["job"]["facets"]["sql"]["query"]
    assert "hunter2" not in query
    assert "'topic' = 'orders'" in query
