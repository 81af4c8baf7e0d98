"""`headwater diff`, and the option `--as-of` of commands that walk the graph."""

import json
from collections.abc import Iterator

import httpx
import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import InvalidInputError
from tests.support.app import dataset, event, facet, schema
from tests.support.commands import output_of
from tests.support.service import running

THEN = "2026-05-18T12:00:00Z"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("home")) as service:
        for day, run, date, columns in (("18", "first", "17", ["id"]), ("19", "second", "18", ["id", "price"])):
            body = event(
                eventType="COMPLETE",
                eventTime=f"2026-05-{day}T10:00:00Z",
                run={
                    "runId": run,
                    "facets": {"executionParameters": facet(parameters=[{"key": "day", "value": date}])},
                },
                inputs=[dataset("raw"), *([dataset("prices")] if run == "second" else [])],
                outputs=[dataset("orders", schema=schema(*columns))],
            )
            httpx.post(f"{service.url}/api/v1/lineage", json=body).raise_for_status()
        yield service.url


def test_diff_lists_each_change_with_its_event(url: str) -> None:
    lines = output_of("diff", THEN, "--url", url).splitlines()

    by = "  · etl:load · COMPLETE at 2026-05-19T10:00:00.000Z · entry 1 of the log"
    assert lines == [
        f"+ dataset lake:prices{by}",
        f"~ schema lake:orders{by}",
        f"+ column lake:orders:price  int{by}",
        f"+ edge lake:prices → etl:load{by}",
        "3 added, 0 removed, 1 changed",
    ]


def test_diff_accepts_runs_with_the_prefix_of_answers(url: str) -> None:
    named = output_of("diff", "run:first", "run:second", "--runs", "--url", url)

    assert named == output_of("diff", "first", "second", "--runs", "--url", url)


@pytest.mark.parametrize("arguments", [("run:second",), ("second",), ("orders", "--run", "run:second")])
def test_root_cause_accepts_a_run_in_either_form(url: str, arguments: tuple[str, ...]) -> None:
    answer = json.loads(output_of("root-cause", *arguments, "--json", "--url", url))

    assert answer["run"]["id"] == "second"


def test_root_cause_of_an_unknown_name_reports_that_no_dataset_has_it(url: str) -> None:
    result = CliRunner().invoke(app, ["root-cause", "third", "--url", url])

    assert str(result.exception).startswith("no dataset has the name 'third'; ")


def test_diff_of_two_runs_shows_each_parameter_that_differs(url: str) -> None:
    lines = output_of("diff", "first", "second", "--runs", "--url", url).splitlines()

    assert lines[0].startswith("~ facet of the run executionParameters  · etl:load · ")
    assert lines[1] == '    parameters[day].value: "17" → "18"'
    assert lines[-1] == "3 added, 0 removed, 2 changed"


def test_diff_prints_the_answer_of_the_service_as_json(url: str) -> None:
    answer = json.loads(output_of("diff", "log:1", "--dataset", "orders", "--json", "--url", url))

    query = {"from": "log:1", "nodeId": "dataset:lake:orders"}
    assert answer["changes"] == httpx.get(f"{url}/api/v1/diff", params=query).json()["changes"]
    assert answer["totalCount"] == 2


def test_diff_reports_that_there_are_no_differences(url: str) -> None:
    assert output_of("diff", "log:2", "--url", url) == "no differences\n"


def test_trace_as_of_a_time_shows_the_sources_of_that_time(url: str) -> None:
    now, then = (
        {node["name"] for node in json.loads(output_of("trace", "orders", "--json", *bound, "--url", url))["nodes"]}
        for bound in ((), ("--as-of", THEN))
    )

    assert now - then == {"prices"}


def test_impact_as_of_a_time_knows_only_datasets_of_that_time(url: str) -> None:
    result = CliRunner().invoke(app, ["impact", "prices", "--as-of", THEN, "--url", url])

    assert result.exit_code == 1
    assert "with the name 'prices'" in str(result.exception)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["diff", "yesterday"], "FROM: 'yesterday' cannot be read: expected a time with its zone such as"),
        (["diff", THEN, "2026-05-19"], "TO: '2026-05-19' cannot be read: expected a time with its zone such as"),
        (["diff", "log:99"], "FROM: log:99 is beyond the end of the log, log:2"),
        (["drift", "--from", "x"], "--from: 'x' cannot be read: expected a time with its zone such as"),
        (["trace", "orders", "--as-of", "x"], "--as-of: 'x' cannot be read: expected a time with its zone such as"),
        (["impact", "orders", "--change", "x"], "--change: expected drop, rename:NEW or retype:TYPE, found 'x'"),
    ],
)
def test_an_unreadable_argument_is_reported_by_its_name(url: str, call: list[str], words: str) -> None:
    result = CliRunner().invoke(app, [*call, "--url", url])

    assert isinstance(result.exception, InvalidInputError)
    assert str(result.exception).startswith(words)


@pytest.mark.parametrize("run", ["run:first", "0198f7d0-1111-7222-8333-444455556666"])
def test_a_run_in_place_of_a_time_is_refused_with_how_to_compare_runs(url: str, run: str) -> None:
    result = CliRunner().invoke(app, ["diff", run, "--url", url])

    assert result.exit_code == 2
    assert "to compare two runs, add --runs" in " ".join(result.stderr.replace("│", " ").split())


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with a table that was renamed on the next day and got an alias on the day after."""
    former = {"namespace": "lake", "name": "stg_orders"}
    rename = facet(lifecycleStateChange="RENAME", previousIdentifier=former)
    alias = facet(identifiers=[{"namespace": "trino", "name": "orders", "type": "TABLE"}])
    with running(tmp_path_factory.mktemp("home")) as service:
        for day, output in (
            ("18", dataset("stg_orders")),
            ("19", dataset("orders", lifecycleStateChange=rename)),
            ("20", dataset("orders", symlinks=alias)),
        ):
            body = event(
                eventType="COMPLETE", eventTime=f"2026-05-{day}T10:00:00Z", run={"runId": day}, outputs=[output]
            )
            httpx.post(f"{service.url}/api/v1/lineage", json=body).raise_for_status()
        yield service.url


@pytest.mark.parametrize(
    ("ends", "line"),
    [
        (("log:1", "log:2"), "~ dataset lake:orders  was called lake:stg_orders  · "),
        (("log:2", "log:1"), "~ dataset lake:stg_orders  no longer called lake:orders  · "),
        (("log:2", "log:3"), "~ dataset lake:orders  also called trino:orders  · "),
        (("log:1", "log:3"), "~ dataset lake:orders  was called lake:stg_orders; also called trino:orders  · "),
        (("log:3", "log:2"), "~ dataset lake:orders  no longer called trino:orders  · "),
    ],
)
def test_diff_shows_which_names_a_dataset_got_and_lost(renamed: str, ends: tuple[str, str], line: str) -> None:
    (found,) = (
        each for each in output_of("diff", *ends, "--url", renamed).splitlines() if each.startswith("~ dataset")
    )

    assert found.startswith(line)
