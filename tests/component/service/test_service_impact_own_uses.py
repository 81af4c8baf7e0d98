"""A column that a job uses itself, as its own `lineage` facet tells, is used until later runs do without it."""

from collections.abc import Sequence
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.component.service.test_service_impact import IN, STREAM, ask, drop, part, run_of
from tests.support.app import Body, dataset, facet, get, post
from tests.support.flights import source


def filtered_by(*columns: str, of: str = "in") -> Body:
    """A `lineage` facet: the job keeps or drops rows by these columns, to send the others on."""
    return facet(entries=[{"type": "JOB", "inputs": [used(column, of) for column in columns]}])


def used(column: str, of: str = "in") -> Body:
    return {**source(of, column, "INDIRECT", "FILTER"), "type": "DATASET"}


def sent(
    minute: int, *columns: str, end: str = "COMPLETE", outputs: Sequence[Body] = (), job: str = "send", **facets: object
) -> list[Body]:
    """A run that tells by which columns it filters, if by any, at its start and at its end."""
    told = {"lineage": filtered_by(*columns)} if columns else {}
    return run_of(job, minute, [dataset("in")], [*outputs], end=end, **told, **facets)


def without_run(event: Body) -> Body:
    return {member: value for member, value in event.items() if member not in ("run", "eventType")}


LOADED = run_of("load", 1, [], [IN])
TABLES_TOO = facet(entries=[{"namespace": "lake", "name": "out", "type": "DATASET", "inputs": [used("id")]}])
TAKEN_BACK = facet(_deleted=True)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("later", "effect"),
    [
        pytest.param([], "breaks", id="it has not run since"),
        pytest.param(sent(3, "x"), "breaks", id="uses it still"),
        pytest.param(sent(3, "id"), "unharmed", id="uses another"),
        pytest.param(sent(3, "id")[:1], "breaks", id="uses another, and runs still"),
        pytest.param(sent(3, "id", end="FAIL"), "breaks", id="uses another, and failed"),
        pytest.param(sent(3, "id", job="other"), "breaks", id="another job"),
        pytest.param(sent(3), "unknown", id="tells of no uses"),
        pytest.param(sent(3, lineage=TAKEN_BACK), "unknown", id="says that it tells of none"),
        pytest.param(run_of("send", 3, [dataset("in2")], []), "unharmed", id="reads another"),
        pytest.param(sent(3, "id", outputs=[dataset("out")]), "breaks", id="makes something of it"),
        pytest.param([without_run(sent(3, "id")[0])], "breaks", id="is declared to use another"),
        pytest.param([*sent(3, "id"), *sent(4, "x", end="FAIL")], "breaks", id="and a run that failed used it again"),
    ],
)
def test_a_use_stands_until_a_later_run_of_the_job_has_completed_without(
    client: TestClient, later: Sequence[Body], effect: str, order: int
) -> None:
    post(client, *[*LOADED, *sent(2, "x"), *later][::order])

    assert drop(client)[1]["job send"] == effect


def test_a_place_that_does_without_says_until_when_it_was_told_and_how_many_runs_there_were_since(
    client: TestClient,
) -> None:
    post(client, *LOADED, *sent(2, "x"), *sent(3, "id"), *sent(4, "id"))

    (job,) = ask(client, nodeId="dataset:lake:in", column="x", change="drop")["reached"]

    said = "as reported until 2026-05-22T14:02:20.000Z: 2 runs since do not use it"
    assert job["reason"] == f"filters rows by in:x, {said}"
    assert job["path"][0]["lastSeen"] == "2026-05-22T14:02:20.000Z"
    assert drop(client) == (False, {"job send": "unharmed"})


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("second", [filtered_by("id"), TAKEN_BACK, TABLES_TOO], ids=["another", "taken back", "tables"])
def test_what_a_run_tells_in_all_its_events_counts_together(client: TestClient, second: Body, order: int) -> None:
    begun, ended = sent(2, "x")
    ended = {**ended, "job": {**ended["job"], "facets": {"lineage": second}}}
    post(client, *[*LOADED, begun, ended][::order])

    assert drop(client)[1]["job send"] == "breaks"


def test_a_use_beside_the_columns_of_what_is_made_counts(client: TestClient) -> None:
    both = facet(entries=[*filtered_by("x")["entries"], *TABLES_TOO["entries"]])
    post(client, *LOADED, *run_of("send", 2, [dataset("in")], [dataset("out")], lineage=both))

    assert drop(client)[1] == {"job send": "breaks"}


def test_runs_that_tell_of_columns_of_what_they_make_do_without_a_use_that_they_do_not_tell(client: TestClient) -> None:
    post(client, *LOADED, *sent(2, "x", outputs=[part("out")]), *sent(3, outputs=[part("out")]))

    assert drop(client)[1] == {"job send": "unharmed"}


def test_what_is_declared_stands_until_it_is_declared_without(client: TestClient) -> None:
    declared = [without_run(sent(minute, *columns)[0]) for minute, columns in ((2, ["x"]), (5, ["id"]), (6, []))]
    found = []
    for event in (*LOADED, declared[0], *sent(3, "id"), declared[1], declared[2]):
        post(client, event)
        found.append(drop(client)[1].get("job send"))

    assert found[2:] == ["breaks", "breaks", "breaks", None, None]
    post(client, *sent(7))
    assert drop(client, "id")[1]["job send"] == "unknown"


def test_of_a_job_that_was_only_declared_and_declares_no_uses_any_more_nobody_knows_them(client: TestClient) -> None:
    post(client, *LOADED, without_run(sent(2, "x")[0]), without_run(sent(3)[0]))

    assert drop(client)[1]["job send"] == drop(client, "id")[1]["job send"] == "unknown"


def test_what_a_stream_uses_that_goes_on_stands(client: TestClient) -> None:
    post(client, *LOADED, *sent(2, "x", end="RUNNING", jobType=STREAM), *sent(3, "id", jobType=STREAM))
    goes_on = drop(client)[1]["job send"]
    post(client, *sent(2, "x", end="ABORT", jobType=STREAM)[1:])

    assert (goes_on, drop(client)[1]["job send"]) == ("breaks", "unharmed")


def test_a_column_that_nobody_else_names_stays_one_when_the_job_tells_of_another(client: TestClient) -> None:
    post(client, *sent(2, "x"), *sent(3, "id"))

    asked = urlencode({"nodeId": "dataset:lake:in", "column": "x"})
    assert get(client, f"/api/v1/impact?{asked}")["totalCount"] == 1
    assert client.get(f"/api/v1/impact?{asked}z").status_code == 404


def test_a_use_of_the_whole_dataset_is_outlived_by_runs_that_name_columns(client: TestClient) -> None:
    whole = facet(entries=[{"type": "JOB", "inputs": [{"namespace": "lake", "name": "in", "type": "DATASET"}]}])
    post(client, *LOADED, *sent(2, lineage=whole))
    before = drop(client)[1]["job send"]
    post(client, *sent(3, "id"))

    assert (before, drop(client)[1]["job send"]) == ("unknown", "unharmed")


def test_a_use_goes_with_its_run_to_the_job_that_this_turns_out_to_be_of(client: TestClient) -> None:
    begun, ended = sent(2, "x")
    post(client, *LOADED, begun, {**ended, "job": {"namespace": "etl", "name": "named at last"}})

    assert drop(client)[1]["job named at last"] == "breaks"


def test_as_of_a_time_uses_are_as_they_were(client: TestClient) -> None:
    post(client, *LOADED, *sent(2), *sent(3, "x"), *sent(4, "id"))

    found = [
        drop(client, asOf=f"2026-05-22T14:{at}Z")[1].get("job send") for at in ("02:30", "03:10", "04:10", "04:30")
    ]

    assert found == ["unknown", "breaks", "breaks", "unharmed"]
