"""The commands that query a service, with text output and with JSON."""

import json
from collections.abc import Iterator

import httpx
import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import InvalidNameError
from tests.support.app import Body, dataset, event, facet
from tests.support.commands import output_of
from tests.support.days import days, read, run
from tests.support.flights import FLIGHTS, columns, ran, schema, source
from tests.support.service import running

_NOTES = {"namespace": "bare", "name": "notes"}
_MASKED = source("notes", "owner", "DIRECT", "TRANSFORMATION")
_MASKED["transformations"][0]["masking"] = True
_COIN_LINEAGE = columns(
    [],
    cents=[{**source("notes", "dollars", "DIRECT", "TRANSFORMATION"), **_NOTES}],
    owner_hash=[{**_MASKED, **_NOTES}],
)
UNDESCRIBED = ran(
    "mint", "r9", 9, [_NOTES], [{"namespace": "bare", "name": "coins", "facets": {"columnLineage": _COIN_LINEAGE}}]
)
"""Datasets whose columns appear only in column lineage."""
_COLONS = {"namespace": "kafka://h:9092", "name": "in:orders", "facets": {"schema": schema(**{"x:y": "string"})}}
_COLON_LINEAGE = columns([], **{"a:b": [{"namespace": "kafka://h:9092", "name": "in:orders", "field": "x:y"}]})
COLONS = ran(
    "unfold",
    "r10",
    10,
    [_COLONS],
    [{"namespace": "bare", "name": "unfolded", "facets": {"columnLineage": _COLON_LINEAGE}}],
)
"""Colons in the names of a namespace, of a dataset and of columns."""
_OLD, _NEW = ({"namespace": f"kafka://{broker}:9092", "name": "clicks"} for broker in ("old", "new"))
TWO_BROKERS = ran("merge", "r-merge", 11, [_OLD, _NEW], [{"namespace": "bare", "name": "all_clicks"}])
"""Two topics of one name."""


_OF_EACH = {"namespace": "bulk", "type": "DATASET"}
BULK = ran("bulk", "r-bulk", 12, *([{"namespace": "bulk", "name": name} for name in ends] for ends in ("ab", "cd")))
BULK["job"]["facets"] = {
    "lineage": facet(
        entries=[{**_OF_EACH, "name": target, "inputs": [{**_OF_EACH, "name": name}]} for name, target in ("ac", "bd")]
    )
}
ON = ran("on", "r-on", 13, [{"namespace": "bulk", "name": "c"}, {"namespace": "bulk", "name": "d"}], [])
"""One run makes c from a, and d from b; another job reads both."""


def _adds(job: str, day: int, read: str, made_of: str) -> Body:
    inputs = [{"namespace": "bulk", "name": name} for name in read]
    facets = {"lineage": facet(inputs=[{**_OF_EACH, "name": made_of}])}
    return ran(job, f"r-{job}", day, inputs, [{"namespace": "bulk", "name": "sum", "facets": facets}])


ADDED = [_adds("early", 14, "x", "x"), _adds("late", 15, "xy", "y")]
ADDED[1]["job"]["facets"] = {"lineage": facet(entries=[{"type": "JOB", "inputs": [
    {"namespace": "etl", "name": "clock", "type": "JOB"}]}])}  # fmt: skip
"""Two jobs add to one table; the later one also reads the earlier one's input, but makes nothing from it."""


def trimmed(run_id: str, minute: int, *names: str) -> Body:
    of_shed = {"namespace": "sheds"}
    lineage = columns([], **{name: [source("wide", name, "DIRECT", "IDENTITY") | of_shed] for name in names})
    return ran("trim", run_id, minute, [dataset("wide") | of_shed], [dataset("slim", columnLineage=lineage) | of_shed])


def load_of(region: str, minute: int, kind: str) -> Body:
    written = {"namespace": f"warehouse:{region}", "name": "orders"}
    return ran(f"load-{region}", f"r-{region}-{kind}", minute, [], [written]) | {"eventType": kind}


_REGIONS = [{"namespace": f"warehouse:{region}", "name": "orders"} for region in ("eu", "us")]
REGIONS = [
    *(load_of(region, minute, kind) for region in ("eu", "us") for minute, kind in ((12, "COMPLETE"), (14, "FAIL"))),
    ran("join", "r-join", 16, _REGIONS, [{"namespace": "warehouse", "name": "both"}]),
]
"""Of two datasets of one name, in two namespaces, each had a failed run."""


TRIMMED = [trimmed("trim-1", 11, "one", "two"), trimmed("trim-2", 12, "one")]
"""A job that no longer uses a column since its second run."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("home")) as service:
        failed = run("clean", 3, state="FAIL", inputs=[read("raw")], outputs=[])
        for event in [
            *FLIGHTS,
            *days(1, 2),
            *failed,
            *run("report", 3),
            UNDESCRIBED,
            COLONS,
            TWO_BROKERS,
            BULK,
            ON,
            *ADDED,
            *TRIMMED,
            *REGIONS,
        ]:
            httpx.post(f"{service.url}/api/v1/lineage", json=event).raise_for_status()
        yield service.url


def json_of(*arguments: str, status: int = 0) -> Body:
    body: Body = json.loads(output_of(*arguments, "--json", status=status))
    return body


def test_trace_shows_the_namespaces_of_two_datasets_of_one_name(url: str) -> None:
    assert output_of("trace", "all_clicks", "--url", url).splitlines() == [
        "all_clicks",
        "└── merge",
        "    ├── kafka://new:9092:clicks",
        "    └── kafka://old:9092:clicks",
    ]


def test_trace_shows_that_a_column_was_masked(url: str) -> None:
    lines = output_of("trace", "coins:owner_hash", "--url", url).splitlines()

    assert lines == ["coins:owner_hash", "└── notes:owner  masked, transformation"]


def test_diff_shows_that_a_column_is_masked(url: str) -> None:
    lines = output_of("diff", "log:0", "--dataset", "coins:owner_hash", "--url", url).splitlines()

    (edge,) = (line for line in lines if line.startswith("+ column edge"))
    assert edge.startswith("+ column edge bare:notes:owner → bare:coins:owner_hash  transformation, masked  · ")


def test_through_a_job_only_the_outputs_made_from_an_input_are_followed(url: str) -> None:
    assert output_of("trace", "bulk:c", "--url", url).splitlines() == ["c", "└── bulk", "    └── a"]
    assert output_of("impact", "bulk:b", "--url", url).splitlines()[:4] == [
        "b",
        "└── bulk",
        "    └── d",
        "        └── on",
    ]
    answer = json_of("impact", "bulk:b", "--url", url)
    assert [node["name"] for node in answer["nodes"]] == ["b", "bulk", "d", "on"]
    assert len(answer["edges"]) == 3


def test_trace_follows_only_the_inputs_that_each_writer_reports_for_the_output(url: str) -> None:
    lines = output_of("trace", "bulk:sum", "--url", url).splitlines()

    assert lines == ["sum", "├── early", "│   └── x", "└── late", "    └── y"]


def test_impact_as_json_has_the_graph_and_the_answer(url: str) -> None:
    answer = json_of("impact", "flights:arr_delay", "--change", "drop", "--url", url, status=1)

    assert (answer["start"], answer["direction"]) == ("datasetField:lake:flights:arr_delay", "downstream")
    assert [(node["name"], node["distance"]) for node in answer["nodes"]] == [
        ("flights:arr_delay", 0),
        ("legs:delay", 1),
        ("delays:avg_delay", 2),
    ]
    assert [edge["how"] for edge in answer["edges"]] == [["AGGREGATION"], ["IDENTITY"]]
    assert (answer["breaking"], answer["totalCount"], len(answer["reached"])) == (True, 9, 9)


def test_impact_as_text_shows_what_breaks_and_what_is_unknown(url: str) -> None:
    lines = output_of("impact", "flights:arr_delay", "--change", "drop", "--url", url, status=1).splitlines()

    assert lines == [
        "flights:arr_delay",
        "└── legs:delay  identity  breaks",
        "    └── delays:avg_delay  aggregation  starved  · team:planning · 1 of 1 check failed",
        "",
        "These may use it; no event reports which columns they use:",
        "  flights_copy  unknown",
        "  job copy  unknown",
        "  job board  unknown  · team:planning",
        "",
        "job cut takes its value from flights:arr_delay (identity): it fails once the column is gone",
        "",
        "breaking: reaches 2 columns, 3 datasets and 4 jobs; 6 of these 9 break or get no more data",
    ]


def test_where_it_is_unknown_whether_a_change_breaks_the_exit_status_is_0(url: str) -> None:
    answer = json_of("impact", "raw:id", "--change", "drop", "--url", url, status=0)

    assert answer["breaking"] is None


def test_impact_shows_when_a_use_was_last_reported_where_the_job_ran_since(url: str) -> None:
    lines = output_of("impact", "wide:two", "--change", "drop", "--url", url).splitlines()

    assert lines == [
        "wide:two",
        "└── slim:two  identity  unharmed  · last reported 2026-05-22T14:11:00.000Z",
        "",
        "not breaking: reaches 1 column, 1 dataset and 1 job, and all of these can go on",
    ]


def test_where_everything_breaks_impact_prints_all(url: str) -> None:
    lines = output_of("impact", "notes:dollars", "--change", "drop", "--url", url, status=1).splitlines()

    assert any("; all of these break or get no more data" in line for line in lines), lines


def test_what_breaks_without_a_known_job_is_listed_once(url: str) -> None:
    lineage = columns([], kept=[{**source("table", "kept", "DIRECT", "IDENTITY"), "namespace": "views"}])
    view = {"namespace": "views", "name": "view", "facets": {"columnLineage": lineage}}
    about = {key: value for key, value in ran("", "", 17, [], []).items() if key in ("eventTime", "producer")}
    schema_url = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
    derived = {**about, "schemaURL": schema_url, "dataset": view}
    httpx.post(f"{url}/api/v1/lineage", json=derived).raise_for_status()

    lines = output_of("impact", "views:table:kept", "--change", "drop", "--url", url, status=1).splitlines()

    assert lines[-3:] == [
        "view:kept takes its value from table:kept (identity): it fails once the column is gone",
        "",
        "breaking: reaches 1 column, 1 dataset and 0 jobs; all of these break or get no more data",
    ]


def test_a_column_that_appears_only_in_column_lineage_is_known(url: str) -> None:
    from_target = json_of("trace", "coins:cents", "--url", url)
    from_source = json_of("impact", "notes:dollars", "--url", url)

    assert [node["name"] for node in from_target["nodes"]] == ["coins:cents", "notes:dollars"]
    assert [node["name"] for node in from_source["nodes"]] == ["notes:dollars", "coins:cents"]


def test_grouping_by_many_columns_is_traced_through_the_dataset(url: str) -> None:
    names = [f"c{number}" for number in range(101)]
    visits = {"namespace": "bulk", "dataset": "visits", "name": "visits"}
    keys = [{**source("visits", name, "INDIRECT", "GROUP_BY"), **visits} for name in names]
    lineage = columns(keys, c7=[{**source("visits", "c7", "DIRECT", "IDENTITY"), **visits}])
    facets = {"schema": schema(**dict.fromkeys(names, "int")), "columnLineage": lineage}
    grouped = ran("distinct", "r-distinct", 16, [visits], [{"namespace": "bulk", "name": "visitors", "facets": facets}])
    httpx.post(f"{url}/api/v1/lineage", json=grouped).raise_for_status()

    up = output_of("trace", "visitors:c7", "--url", url).splitlines()
    down = output_of("impact", "visits:c7", "--url", url).splitlines()

    assert up[:4] == [
        "visitors:c7",
        "├── visits:c7  identity",
        "└── visitors  whole_dataset",
        "    ├── visits:c0  group_by",
    ]
    assert len(up) == 3 + len(names)
    assert down == [
        "visits:c7",
        "├── visitors:c7  identity",
        f"└── visitors  group_by  {len(names)} columns",
        "",
        f"reaches {len(names)} columns, 1 dataset and 1 job",
    ]


@pytest.mark.parametrize("name", ["in:orders:x:y", "datasetField:kafka://h:9092:in:orders:x:y"])
def test_a_column_may_have_colons_in_its_name(url: str, name: str) -> None:
    answer = json_of("impact", name, "--url", url)

    assert [node["name"] for node in answer["nodes"]] == ["in:orders:x:y", "unfolded:a:b"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the name is empty; expected DATASET or DATASET:COLUMN"),
        ("nowhere", "no dataset has the name 'nowhere'; name it as DATASET or DATASET:COLUMN"),
        ("conis", "no dataset has the name 'conis'; name it as DATASET or DATASET:COLUMN"),
        ("flihgts:carrier", "no dataset has the name 'flihgts:carrier'; did you mean flights?"),
        ("all_click", "no dataset has the name 'all_click'; did you mean all_clicks?"),
        ("merge", "no dataset has the name 'merge'; it is a job; name a dataset that it reads or writes"),
        ("coins:euros", "coins has no column 'euros'; it has cents, owner_hash"),
        ("in:orders:x:z", "in:orders has no column 'x:z'; it has x:y"),
    ],
)
@pytest.mark.parametrize("command", ["trace", "impact", "root-cause", "drift"])
def test_an_unknown_name_is_reported_with_what_can_be_named(url: str, command: str, name: str, message: str) -> None:
    result = CliRunner().invoke(app, [command, name, "--url", url])

    assert result.exit_code == 1
    assert str(result.exception) == message


_TABLE = {"namespace": "arn:aws:glue:eu:1", "name": "table/shop/sold"}
_PLACE = {"namespace": "s3://shop", "name": "warehouse/sold"}


@pytest.mark.parametrize("name", ["arn:aws:glue:eu:1:table/shop/sold", "s3://shop:warehouse/sold", "warehouse/sold",
                                  "dataset:s3://shop:warehouse/sold"])  # fmt: skip
def test_a_dataset_is_accepted_by_any_of_its_names_and_shown_by_one(url: str, name: str) -> None:
    links = {"identifiers": [{**_PLACE, "type": "LOCATION"}]}
    table = {**_TABLE, "facets": {"symlinks": facet(**links), "schema": schema(price="int")}}
    httpx.post(f"{url}/api/v1/lineage", json=ran("sell", "r11", 11, [], [table])).raise_for_status()

    dataset, column = json_of("trace", name, "--url", url), json_of("trace", f"{name}:price", "--url", url)

    assert [dataset["start"], column["start"]] == [
        "dataset:arn:aws:glue:eu:1:table/shop/sold",
        "datasetField:arn:aws:glue:eu:1:table/shop/sold:price",
    ]
    assert dataset["nodes"][0]["name"] == "table/shop/sold"


def test_a_dataset_that_was_unknown_then_is_reported_with_the_time(url: str) -> None:
    result = CliRunner().invoke(app, ["root-cause", "mart", "--as-of", "2020-01-01T00:00:00Z", "--url", url])

    assert str(result.exception) == (
        "no dataset was known as of 2020-01-01T00:00:00Z with the name 'mart'; "
        "to include later events, leave out --as-of"
    )


def test_root_cause_and_coverage_answer_as_of_a_time(url: str) -> None:
    then = ["--as-of", "2026-05-02T12:00:00Z", "--url", url]

    assert json_of("root-cause", "mart", *then)["run"]["id"] == "report-2"
    assert json_of("coverage", *then)["at"] == "2026-05-02T12:00:00.000Z"


def test_questions_may_be_asked_as_of_a_log_size(url: str) -> None:
    known = len(FLIGHTS) + 2  # and of the first day the loading
    then = ["--log-size", str(known), "--url", url]

    assert json_of("coverage", *then)["total"]["signatures"]["events"] == known
    assert output_of("trace", "raw", *then).splitlines() == ["raw", "└── load"]
    assert output_of("impact", "raw", *then).splitlines()[0] == "raw"
    assert json_of("root-cause", "raw", *then)["run"]["id"] == "load-1"
    assert json_of("drift", "raw", *then)["drift"] == []


def test_a_question_may_be_asked_as_of_a_time_and_a_log_size(url: str) -> None:
    then = ["--log-size", str(len(FLIGHTS) + 2), "--url", url]

    event_count = json_of("coverage", "--as-of", "2026-05-02T12:00:00Z", *then)["total"]["signatures"]["events"]
    result = CliRunner().invoke(app, ["trace", "flights", "--as-of", "2020-01-01T00:00:00Z", *then])

    assert event_count == 2  # the flights came first, and happened later
    assert str(result.exception) == (
        f"no dataset was known as of 2020-01-01T00:00:00Z by the first {len(FLIGHTS) + 2} events of the log with the "
        "name 'flights'; to include later events, leave out --as-of and --log-size"
    )


def test_an_empty_list_of_actions_is_shown_as_no_entries(url: str) -> None:
    assert output_of("log", "actions", "--url", url) == "no entries\n"


def test_impact_without_a_change_shows_only_the_reach(url: str) -> None:
    lines = output_of("impact", "legs", "--url", url).splitlines()

    assert lines[-1] == "reaches 2 columns, 1 dataset and 2 jobs"
    assert "    └── delays  · team:planning · 1 of 2 checks failed" in lines


def test_impact_of_an_invalid_change_names_the_valid_ones(url: str) -> None:
    result = CliRunner().invoke(app, ["impact", "flights", "--change", "burn", "--url", url])

    assert result.exit_code == 1
    assert str(result.exception) == "--change: expected drop, rename:NEW or retype:TYPE, found 'burn'"


def test_root_cause_as_text_shows_the_finding_and_its_path(url: str) -> None:
    lines = output_of("root-cause", "mart:amount", "--url", url).splitlines()

    assert lines[0] == "mart:amount  written by run report-3 of report, COMPLETED at 2026-05-03T03:10:00.000Z"
    assert lines[1] == "  1  0.90  failed-run        a run of clean failed"
    assert lines[2].startswith("           2026-05-03T02:10:00.000Z · stage (attempt) · runs clean-3 · events sha256:")
    assert lines[-1] == "a run of clean failed (of 1 found in 4 runs of 3 jobs, up to 2 steps upstream)"


def test_root_cause_accepts_the_node_id_of_a_run(url: str) -> None:
    lines = output_of("root-cause", "run:report-2", "--url", url).splitlines()

    assert lines[0] == "run:report-2  written by run report-2 of report, COMPLETED at 2026-05-02T03:10:00.000Z"
    assert json_of("root-cause", "run:report-2", "--url", url)["run"]["id"] == "report-2"


def test_root_cause_distinguishes_datasets_of_one_name_by_namespace(url: str) -> None:
    lines = output_of("root-cause", "both", "--url", url).splitlines()

    sources = [line.partition(" (attempt)")[0].partition(" · ")[2] for line in lines if " (attempt)" in line]
    assert sources == ["warehouse:eu:orders", "warehouse:us:orders"]


def test_root_cause_as_json_is_the_answer(url: str) -> None:
    answer = json_of("root-cause", "mart", "--run", "report-2", "--url", url)

    assert (answer["run"]["id"], answer["findings"], len(answer["lookedAt"])) == ("report-2", [], 3)


def test_root_cause_lists_the_runs_looked_at_where_it_found_nothing(url: str) -> None:
    lines = output_of("root-cause", "mart", "--run", "report-2", "--url", url).splitlines()

    assert lines[2].startswith("nothing found in 3 runs of 3 jobs")
    assert lines[3] == "  report-2 of report, compared with 1 earlier run"
    assert lines[-1] == "what has changed since it was right: headwater diff TIME"


def test_coverage_as_text_lists_the_gaps_by_kind(url: str) -> None:
    lines = output_of("coverage", "--namespace", "lake", "--url", url).splitlines()

    assert lines[0] == "0 jobs, 0 runs, 7 datasets"
    assert "datasets without a schema" in lines
    assert any(line.startswith("  dataset:lake:flights_copy  no event reports its columns") for line in lines)
    assert lines[-1] == "4 of 4 gaps"  # the copy twice; stage and mart have schemas and no column lineage


def test_coverage_uses_the_singular_for_one(url: str) -> None:
    alone = event(eventType="COMPLETE", job={"namespace": "alone", "name": "one"}, run={"runId": "r-alone"})
    httpx.post(f"{url}/api/v1/lineage", json=alone).raise_for_status()

    lines = output_of("coverage", "--namespace", "alone", "--url", url).splitlines()

    assert lines[:2] == ["1 job, 1 run, 0 datasets", "1 event: 1 unsigned"]


def test_coverage_without_events_says_that_none_are_stored(url: str) -> None:
    lines = output_of("coverage", "--as-of", "2001-01-01T00:00:00Z", "--url", url).splitlines()

    assert lines[-1] == "no events are stored, so there are no gaps"


def test_coverage_of_one_kind_lists_only_that_kind(url: str) -> None:
    answer = json_of("coverage", "--kind", "dataset-without-schema", "--url", url)

    assert {gap["kind"] for gap in answer["gaps"]} == {"dataset-without-schema"}


@pytest.mark.parametrize("command", [["coverage"], ["drift"], ["diff", "log:1"]])
def test_an_unknown_namespace_is_refused_with_a_suggestion(url: str, command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "--namespace", "lkae", "--url", url])

    assert result.exit_code == 1
    assert str(result.exception) == "no namespace 'lkae'; did you mean 'lake'?"


def test_coverage_as_json_is_the_answer(url: str) -> None:
    answer = json_of("coverage", "--limit", "1", "--url", url)

    assert (len(answer["gaps"]), answer["totalCount"]) == (1, sum(answer["total"]["gaps"].values()))


def test_drift_of_a_column_is_refused(url: str) -> None:
    with pytest.raises(InvalidNameError, match=r"'flights:arr_delay' is a column; .* name the dataset alone"):
        output_of("drift", "flights:arr_delay", "--url", url)
