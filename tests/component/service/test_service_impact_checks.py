"""A check of a column is a use of it: the job with the check fails once the column is gone."""

from collections.abc import Sequence

import pytest
from starlette.testclient import TestClient

from tests.component.service.test_service_impact import IN, STREAM, ask, drop, part, run_of, short
from tests.support.app import Body, dataset, facet, post, without_run
from tests.support.flights import columns, source


def asserted(*checks: tuple[str, str]) -> Body:
    return facet(assertions=[{"assertion": name, "column": column, "success": True} for name, column in checks])


def checked(*checks: tuple[str, str], name: str = "in") -> Body:
    """An input with these checks."""
    return {**dataset(name), "inputFacets": {"dataQualityAssertions": asserted(*checks)}}


X = checked(("not_null", "x"))


def of_job(client: TestClient, change: str, column: str = "x") -> tuple[str, str, str]:
    answer = ask(client, nodeId="dataset:lake:in", column=column, change=change)
    (job,) = [each for each in answer["reached"] if each["type"] == "JOB"]
    return job["use"], job["effect"], job["reason"]


@pytest.fixture
def checks(client: TestClient) -> TestClient:
    post(client, *run_of("load", 1, [], [IN]), *run_of("test", 2, [X], []))
    return client


@pytest.mark.parametrize(
    ("change", "effect", "reason"),
    [
        ("drop", "breaks", "checks in:x: it fails once the column is gone"),
        ("rename:y", "breaks", "checks in:x by its name: it fails until it uses the name y"),
        ("rename:X", "unknown", "checks in:x: only the case changes, which case-insensitive engines ignore"),
        ("retype:string", "unknown", "checks in:x, and no event reports whether the check accepts string"),
        ("retype:bigint", "unknown", "checks in:x, and no event reports whether the check accepts bigint"),
    ],
)
def test_dropping_or_renaming_a_column_breaks_its_check_and_retyping_is_unknown(
    checks: TestClient, change: str, effect: str, reason: str
) -> None:
    assert of_job(checks, change) == ("indirect", effect, reason)


def test_an_equivalent_type_does_not_harm_a_check_of_a_job_with_column_lineage(client: TestClient) -> None:
    post(client, *run_of("load", 1, [], [IN]), *run_of("test", 2, [X], [part("out")]))

    assert of_job(client, "retype:integer") == (
        "indirect",
        "unharmed",
        "checks in:x: int and integer are the same type",
    )
    assert of_job(client, "retype:bigint")[1] == "unknown"


def test_the_use_of_columns_that_a_job_does_not_check_is_unknown(checks: TestClient) -> None:
    assert of_job(checks, "drop", "id")[:2] == ("unknown", "unknown")
    assert drop(checks, None) == (True, {"job test": "breaks"})


def test_the_path_lists_the_checks_and_when_they_were_last_reported(client: TestClient) -> None:
    by_name = checked(("unique", "x"), ("not_null", "x"), ("fresh", ""))
    post(client, *run_of("load", 1, [], [IN]), *run_of("test", 2, [by_name], []))
    post(client, *run_of("test", 3, [dataset("in")], [], end="FAIL"))

    (job,) = ask(client, nodeId="dataset:lake:in", column="x")["reached"]

    (step,) = job["path"]
    assert (step["type"], step["subtype"], step["description"]) == ("INDIRECT", "CHECK", "not_null, unique")
    assert (step["origin"], step["jobs"]) == ("datasetField:lake:in:x", ["job:etl:test"])
    assert step["lastSeen"] == "2026-05-22T14:02:20.000Z"


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(run_of("test", 2, [dataset("in", dataQualityAssertions=asserted(("n", "x")))], []), id="dataset"),
        pytest.param([without_run(run_of("test", 2, [X], [])[0])], id="declared"),
        pytest.param(
            [without_run(run_of("test", 2, [X], [])[0]), *run_of("test", 3, [dataset("in")], [])],
            id="declared, and a run without checks",
        ),
        pytest.param(
            [
                *run_of("test", 2, [checked(("not_null", "x"))], [])[:1],
                *run_of("test", 2, [checked(("not_null", "id"))], [])[1:],
            ],
            id="one per event",
        ),
        pytest.param(run_of("test", 2, [checked(("not_null", "X"), ("not_null", "x"))], []), id="in both cases"),
        pytest.param(run_of("test", 2, [X], [dataset("out")]), id="makes a dataset"),
        pytest.param(run_of("test", 2, [X], [part("out")]), id="makes a dataset, of other columns"),
    ],
)
def test_a_check_counts_however_it_is_reported(client: TestClient, events: Sequence[Body]) -> None:
    post(client, *run_of("load", 1, [], [IN]), *events)

    assert drop(client)[1]["job test"] == "breaks"


def test_a_check_of_a_name_in_another_case_may_mean_the_column(client: TestClient) -> None:
    post(client, *run_of("load", 1, [], [IN]), *run_of("test", 2, [checked(("not_null", "X"))], []))

    assert of_job(client, "drop")[1] == "unknown"


def test_a_check_downstream_of_a_break_is_starved_and_of_a_change_is_unknown(client: TestClient) -> None:
    raw = dataset("raw", schema=IN["facets"]["schema"])
    made = dataset("in", schema=IN["facets"]["schema"], columnLineage=columns([], x=[source("raw", "x", "DIRECT", "")]))
    post(client, *run_of("load", 1, [raw], [made]), *run_of("test", 2, [X], []))

    def effect_of(change: str) -> str:
        answer = ask(client, nodeId="dataset:lake:raw", column="x", change=change)
        (job,) = [each for each in answer["reached"] if short(each["id"]) == "job test"]
        return str(job["effect"])

    assert effect_of("drop") == "starved"
    assert effect_of("retype:bigint") == "unknown"


OTHER = checked(("not_null", "id"))
NONE = dataset("in")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("later", "effect"),
    [
        pytest.param([], "breaks", id="it has not run since"),
        pytest.param(run_of("test", 3, [X], []), "breaks", id="still checks it"),
        pytest.param(run_of("test", 3, [OTHER], []), "unknown", id="checks another"),
        pytest.param(run_of("test", 3, [NONE], []), "unknown", id="reports no checks"),
        pytest.param(run_of("test", 3, [OTHER], [], end="FAIL"), "breaks", id="it failed"),
        pytest.param(run_of("test", 3, [OTHER], [])[:1], "breaks", id="it is still running"),
        pytest.param(run_of("test", 3, [OTHER], [dataset("out")]), "breaks", id="has an output"),
        pytest.param(run_of("other", 3, [OTHER], []), "breaks", id="another job"),
        pytest.param(run_of("test", 3, [dataset("in2")], []), "unharmed", id="reads another"),
        pytest.param(
            [*run_of("test", 3, [OTHER], []), *run_of("test", 4, [X], [], end="FAIL")],
            "breaks",
            id="and a run that failed checked it again",
        ),
        pytest.param(
            [*run_of("test", 3, [OTHER], []), *run_of("test", 4, [NONE], [], end="FAIL")],
            "unknown",
            id="and then a run failed",
        ),
    ],
)
def test_a_check_counts_until_a_later_completed_run_reads_the_dataset_without_it(
    client: TestClient, later: Sequence[Body], effect: str, order: int
) -> None:
    post(client, *[*run_of("load", 1, [], [IN]), *run_of("test", 2, [X], []), *later][::order])

    assert drop(client)[1]["job test"] == effect


def test_a_run_that_started_before_a_check_was_last_reported_does_not_end_it(client: TestClient) -> None:
    started, ended = run_of("test", 2, [X], [])
    post(client, *run_of("load", 1, [], [IN]), started, *run_of("test", 3, [OTHER], []))
    before = drop(client)[1]["job test"]
    post(client, {**ended, "eventTime": "2026-05-22T14:03:10Z"})

    assert (before, drop(client)[1]["job test"]) == ("unknown", "breaks")


def test_a_column_no_longer_checked_by_a_job_with_column_lineage_is_not_used(client: TestClient) -> None:
    post(client, *run_of("load", 1, [], [IN]), *run_of("test", 2, [X], [part("out")]))
    post(client, *run_of("test", 3, [NONE], [part("out")]))

    assert drop(client) == (False, {})


def test_a_check_of_a_running_stream_counts_until_a_newer_run_has_replaced_it(client: TestClient) -> None:
    post(client, *run_of("load", 1, [], [IN]), *run_of("test", 2, [X], [], end="RUNNING", jobType=STREAM))
    post(client, *run_of("test", 3, [OTHER], [], end="RUNNING", jobType=STREAM))
    while_both_run = drop(client)[1]["job test"]
    post(client, *run_of("test", 2, [X], [], end="ABORT", jobType=STREAM)[1:])

    assert (while_both_run, drop(client)[1]["job test"]) == ("breaks", "unknown")


def test_as_of_a_time_the_checks_of_that_time_count(client: TestClient) -> None:
    post(client, *run_of("load", 1, [], [IN]), *run_of("test", 2, [NONE], []))
    post(client, *run_of("test", 3, [X], []), *run_of("test", 4, [NONE], []))

    found = [drop(client, asOf=f"2026-05-22T14:{at}Z")[1]["job test"] for at in ("02:30", "03:30", "04:10", "04:30")]

    assert found == ["unknown", "breaks", "breaks", "unknown"]


def test_a_check_deleted_by_its_run_does_not_count(client: TestClient) -> None:
    started, ended = run_of("test", 2, [X], [])
    gone = {**dataset("in"), "inputFacets": {"dataQualityAssertions": facet(_deleted=True)}}
    post(client, *run_of("load", 1, [], [IN]), started, {**ended, "inputs": [gone]})

    assert drop(client)[1]["job test"] == "unknown"
