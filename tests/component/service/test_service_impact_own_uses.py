"""A column that a job itself uses, by its own `lineage` facet, is used until later runs no longer report it."""

from collections.abc import Sequence
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.component.service.test_service_impact import IN, STREAM, ask, drop, part, run_of
from tests.support.app import Body, dataset, facet, get, post, without_run
from tests.support.flights import source


def filtered_by(*columns: str, of: str = "in") -> Body:
    """A `lineage` facet: the job filters rows by these columns."""
    return facet(entries=[{"type": "JOB", "inputs": [used(column, of) for column in columns]}])


def used(column: str, of: str = "in") -> Body:
    return {**source(of, column, "INDIRECT", "FILTER"), "type": "DATASET"}


def run_filtering(
    minute: int, *columns: str, end: str = "COMPLETE", outputs: Sequence[Body] = (), job: str = "send", **facets: object
) -> list[Body]:
    """A run that reports the columns it filters by, if any, at its start and at its end."""
    job_facets = {"lineage": filtered_by(*columns)} if columns else {}
    return run_of(job, minute, [dataset("in")], [*outputs], end=end, **job_facets, **facets)


LOADED = run_of("load", 1, [], [IN])
TABLES_TOO = facet(entries=[{"namespace": "lake", "name": "out", "type": "DATASET", "inputs": [used("id")]}])
TAKEN_BACK = facet(_deleted=True)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("later", "effect"),
    [
        pytest.param([], "breaks", id="it has not run since"),
        pytest.param(run_filtering(3, "x"), "breaks", id="still uses it"),
        pytest.param(run_filtering(3, "id"), "unharmed", id="uses another"),
        pytest.param(run_filtering(3, "id")[:1], "breaks", id="uses another, and is still running"),
        pytest.param(run_filtering(3, "id", end="FAIL"), "breaks", id="uses another, and failed"),
        pytest.param(run_filtering(3, "id", job="other"), "breaks", id="another job"),
        pytest.param(run_filtering(3), "unknown", id="reports no uses"),
        pytest.param(run_filtering(3, lineage=TAKEN_BACK), "unknown", id="deletes its uses"),
        pytest.param(run_of("send", 3, [dataset("in2")], []), "unharmed", id="reads another"),
        pytest.param(run_filtering(3, "id", outputs=[dataset("out")]), "breaks", id="has an output"),
        pytest.param([without_run(run_filtering(3, "id")[0])], "breaks", id="is declared to use another"),
        pytest.param(
            [*run_filtering(3, "id"), *run_filtering(4, "x", end="FAIL")],
            "breaks",
            id="and a run that failed used it again",
        ),
    ],
)
def test_a_use_counts_until_a_later_run_of_the_job_has_completed_without_it(
    client: TestClient, later: Sequence[Body], effect: str, order: int
) -> None:
    post(client, *[*LOADED, *run_filtering(2, "x"), *later][::order])

    assert drop(client)[1]["job send"] == effect


def test_an_ended_use_shows_when_it_was_last_reported_and_the_number_of_runs_since(
    client: TestClient,
) -> None:
    post(client, *LOADED, *run_filtering(2, "x"), *run_filtering(3, "id"), *run_filtering(4, "id"))

    (job,) = ask(client, nodeId="dataset:lake:in", column="x", change="drop")["reached"]

    expected = "as reported until 2026-05-22T14:02:20.000Z: 2 runs since do not use it"
    assert job["reason"] == f"filters rows by in:x, {expected}"
    assert job["path"][0]["lastSeen"] == "2026-05-22T14:02:20.000Z"
    assert drop(client) == (False, {"job send": "unharmed"})


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("second", [filtered_by("id"), TAKEN_BACK, TABLES_TOO], ids=["another", "taken back", "tables"])
def test_uses_in_all_events_of_a_run_count_together(client: TestClient, second: Body, order: int) -> None:
    started, ended = run_filtering(2, "x")
    ended = {**ended, "job": {**ended["job"], "facets": {"lineage": second}}}
    post(client, *[*LOADED, started, ended][::order])

    assert drop(client)[1]["job send"] == "breaks"


def test_a_use_by_the_job_counts_besides_column_lineage_of_its_output(client: TestClient) -> None:
    both = facet(entries=[*filtered_by("x")["entries"], *TABLES_TOO["entries"]])
    post(client, *LOADED, *run_of("send", 2, [dataset("in")], [dataset("out")], lineage=both))

    assert drop(client)[1] == {"job send": "breaks"}


def test_runs_with_column_lineage_of_their_output_end_a_use_that_they_do_not_report(client: TestClient) -> None:
    post(client, *LOADED, *run_filtering(2, "x", outputs=[part("out")]), *run_filtering(3, outputs=[part("out")]))

    assert drop(client)[1] == {"job send": "unharmed"}


def test_a_declared_use_counts_until_a_declaration_omits_it(client: TestClient) -> None:
    declared = [
        without_run(run_filtering(minute, *columns)[0]) for minute, columns in ((2, ["x"]), (5, ["id"]), (6, []))
    ]
    found = []
    for event in (*LOADED, declared[0], *run_filtering(3, "id"), declared[1], declared[2]):
        post(client, event)
        found.append(drop(client)[1].get("job send"))

    assert found[2:] == ["breaks", "breaks", "breaks", None, None]
    post(client, *run_filtering(7))
    assert drop(client, "id")[1]["job send"] == "unknown"


def test_the_uses_of_a_job_whose_newest_declaration_has_none_are_unknown(client: TestClient) -> None:
    post(client, *LOADED, without_run(run_filtering(2, "x")[0]), without_run(run_filtering(3)[0]))

    assert drop(client)[1]["job send"] == drop(client, "id")[1]["job send"] == "unknown"


def test_a_use_of_a_running_stream_counts(client: TestClient) -> None:
    post(
        client, *LOADED, *run_filtering(2, "x", end="RUNNING", jobType=STREAM), *run_filtering(3, "id", jobType=STREAM)
    )
    while_running = drop(client)[1]["job send"]
    post(client, *run_filtering(2, "x", end="ABORT", jobType=STREAM)[1:])

    assert (while_running, drop(client)[1]["job send"]) == ("breaks", "unharmed")


def test_a_column_known_only_from_a_past_use_still_exists(client: TestClient) -> None:
    post(client, *run_filtering(2, "x"), *run_filtering(3, "id"))

    query = urlencode({"nodeId": "dataset:lake:in", "column": "x"})
    assert get(client, f"/api/v1/impact?{query}")["totalCount"] == 1
    assert client.get(f"/api/v1/impact?{query}z").status_code == 404


def test_a_use_of_the_whole_dataset_is_ended_by_runs_that_name_columns(client: TestClient) -> None:
    of_dataset = facet(entries=[{"type": "JOB", "inputs": [{"namespace": "lake", "name": "in", "type": "DATASET"}]}])
    post(client, *LOADED, *run_filtering(2, lineage=of_dataset))
    before = drop(client)[1]["job send"]
    post(client, *run_filtering(3, "id"))

    assert (before, drop(client)[1]["job send"]) == ("unknown", "unharmed")


def test_a_use_moves_with_its_run_to_the_job_named_later(client: TestClient) -> None:
    started, ended = run_filtering(2, "x")
    post(client, *LOADED, started, {**ended, "job": {"namespace": "etl", "name": "named at last"}})

    assert drop(client)[1]["job named at last"] == "breaks"


def test_as_of_a_time_the_uses_of_that_time_count(client: TestClient) -> None:
    post(client, *LOADED, *run_filtering(2), *run_filtering(3, "x"), *run_filtering(4, "id"))

    found = [
        drop(client, asOf=f"2026-05-22T14:{at}Z")[1].get("job send") for at in ("02:30", "03:10", "04:10", "04:30")
    ]

    assert found == ["unknown", "breaks", "breaks", "unharmed"]
