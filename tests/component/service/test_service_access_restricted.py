"""Restricted columns, also nested ones: who may lift a restriction, and no answer confirms a guess."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.app import START_US, dataset, event, facet, schema
from tests.support.callers import Caller, caller, guarded, operator, post

PEOPLE = "/api/v1/namespaces/lake/datasets/people"
COLUMNS = ("id", "zz_a", "zz_b")


def tags(*columns: str) -> dict[str, Any]:
    return facet(tags=[{"key": "RESTRICTED", "value": "true", "source": "x", "field": column} for column in columns])


def run_of(job: str, second: int, *, reads: bool = False, run: str | None = None, **facets: object) -> dict[str, Any]:
    """A run of a job that reads or writes the dataset `people`."""
    side = "inputs" if reads else "outputs"
    return event(
        run={"runId": run or str(uuid4())},
        eventTime=f"2026-05-22T15:00:{second:02d}Z",
        eventType="COMPLETE",
        job={"namespace": job, "name": "x"},
        **{side: [dataset("people", "lake", **facets)]},
    )


def hidden_from(reader: Caller) -> set[str]:
    shown = {field["name"] for field in reader("GET", PEOPLE).json()["fields"]}
    return {*COLUMNS} - shown


def test_a_producers_restriction_is_not_lifted_by_another_producer_live_or_after_a_restart(tmp_path: Path) -> None:
    with guarded(tmp_path) as admin:
        tagged = run_of("lake", 1, schema=schema(*COLUMNS), tags=tags("zz_a"))
        assert post(admin, tagged) == [201]
        guest, reader = caller(admin, "ingest", scopes=("guest",)), caller(admin, "read", scopes=("*",))

        other = facet(tags=[{"key": "x", "value": "y", "source": "z"}])
        assert post(guest, run_of("guest", 2, reads=True, tags=other), run_of("guest", 3, tags=other)) == [201, 201]
        live = hidden_from(reader)

    with guarded(tmp_path, start_us=START_US + 10_000_000) as admin:
        restarted = hidden_from(Caller(admin._client, reader.token))

    assert live == restarted == {"zz_a"}


def test_a_producer_may_lift_its_own_restriction(tmp_path: Path) -> None:
    with guarded(tmp_path) as admin:
        reader = caller(admin, "read", scopes=("*",))
        post(admin, run_of("lake", 1, schema=schema(*COLUMNS), tags=tags("zz_a", "zz_b")))
        before = hidden_from(reader)

        late = run_of("lake", 2, tags=tags("zz_a"))
        post(admin, run_of("lake", 3, tags=tags("zz_b")), late)
        after = hidden_from(reader)

    assert (before, after) == ({"zz_a", "zz_b"}, {"zz_b"})


def test_a_restriction_holds_until_its_producer_reports_other_tags_of_the_dataset(tmp_path: Path) -> None:
    of_one_write = run_of("lake", 3)
    of_one_write["outputs"][0]["outputFacets"] = {"tags": tags("id")}
    with guarded(tmp_path) as admin:
        reader = caller(admin, "read", scopes=("*",))
        tagged, later = run_of("lake", 1, tags=tags("zz_a")), run_of("lake", 2, schema=schema(*COLUMNS))
        assert post(admin, tagged, later, of_one_write) == [201, 201, 201]
        live = hidden_from(reader)

    with guarded(tmp_path, start_us=START_US + 10_000_000) as admin:
        restarted = hidden_from(Caller(admin._client, reader.token))

    assert live == restarted == {"zz_a"}


def test_a_column_is_hidden_also_if_its_event_restricts_nothing_in_its_other_datasets(tmp_path: Path) -> None:
    several = run_of("lake", 1, schema=schema(*COLUMNS), tags=tags("zz_a"))
    several["outputs"] += [dataset("others", "lake", schema=schema("id"))]
    with guarded(tmp_path) as admin:
        reader = caller(admin, "read", scopes=("*",))

        assert post(admin, several) == [201]

        assert hidden_from(reader) == {"zz_a"}


def test_a_caller_is_told_whether_it_may_know_restricted_columns(tmp_path: Path) -> None:
    with guarded(tmp_path) as admin:
        knows, not_knows = (
            [
                caller(admin, "steward", scopes=("lake",)),
                caller(admin, "read", scopes=("lake",), knowsRestricted=True),
                admin,
            ],
            [caller(admin, "read", scopes=("lake",)), caller(admin, "read", scopes=("*",))],
        )

        told = [
            [each("GET", "/api/v1/access/me").json()["knowsRestricted"] for each in group]
            for group in (knows, not_knows)
        ]

    assert told == [[True] * 3, [False] * 2]


class TagEvent(NamedTuple):
    """A run of one of two jobs, or a declaration, that sets tags or deletes them."""

    teller: str
    second: int
    columns: tuple[str, ...] | None
    reads: bool

    def event(self) -> dict[str, Any]:
        about = {"tags": facet(_deleted=True) if self.columns is None else tags(*self.columns)}
        if self.teller in ("a", "b"):
            return run_of(self.teller, self.second, reads=self.reads, run=f"{uuid4()}", **about)
        declared = dataset("people", "lake", **about)
        time = {"eventTime": f"2026-05-22T15:00:{self.second:02d}Z", "eventType": None, "run": None}
        if self.teller == "dataset":
            return event(**time, job=None, inputs=None, outputs=None, dataset=declared)
        return event(**time, job={"namespace": "lake", "name": "declared"}, inputs=[declared])


TAG_EVENTS = st.builds(
    TagEvent,
    teller=st.sampled_from(["a", "b", "dataset", "job"]),
    second=st.integers(1, 50),
    columns=st.none() | st.lists(st.sampled_from(COLUMNS[1:]), unique=True).map(tuple),
    reads=st.booleans(),
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TAG_EVENTS, max_size=8, unique_by=lambda tagged: tagged.second))
def test_restrictions_are_the_same_live_and_after_a_restart(tagged: list[TagEvent]) -> None:
    newest = {each.teller: each for each in sorted(tagged, key=lambda each: each.second)}
    expected = {column for each in newest.values() for column in each.columns or ()}

    with TemporaryDirectory() as folder:
        with guarded(Path(folder)) as admin:
            reader = caller(admin, "read", scopes=("*",))
            post(admin, run_of("schema", 55, schema=schema(*COLUMNS)))
            assert {*post(admin, *(each.event() for each in tagged))} <= {201}
            live = hidden_from(reader)
        with guarded(Path(folder), start_us=START_US + 10_000_000) as admin:
            restarted = hidden_from(Caller(admin._client, reader.token))

    assert live == restarted == expected


class OwnedTags(NamedTuple):
    """An event of one of three runs that names one of two jobs, and may report tags."""

    run: int
    job: str
    second: int
    columns: tuple[str, ...] | None

    def event(self) -> dict[str, Any]:
        run = str(UUID(int=self.run))
        if self.columns is None:
            return run_of(self.job, self.second, run=run)
        return run_of(self.job, self.second, run=run, tags=tags(*self.columns))


OWNED_TAGS = st.builds(
    OwnedTags,
    run=st.integers(1, 3),
    job=st.sampled_from(["a", "b"]),
    second=st.integers(1, 50),
    columns=st.none() | st.lists(st.sampled_from(COLUMNS[1:]), unique=True).map(tuple),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example([OwnedTags(1, "a", 1, ("zz_a",)), OwnedTags(1, "b", 2, None), OwnedTags(2, "a", 3, ())])
@example([OwnedTags(1, "a", 1, ("zz_a",)), OwnedTags(2, "a", 2, ()), OwnedTags(2, "b", 3, None)])
@example([OwnedTags(1, "b", 1, ("zz_a",)), OwnedTags(2, "a", 2, ()), OwnedTags(2, "b", 3, None)])
@given(st.lists(OWNED_TAGS, max_size=8, unique_by=lambda owned: owned.second))
def test_a_restriction_counts_for_the_job_that_its_run_turns_out_to_belong_to(owned: list[OwnedTags]) -> None:
    in_time = sorted(owned, key=lambda each: each.second)
    job_of = {each.run: each.job for each in in_time}
    newest = {job_of[each.run]: each.columns for each in in_time if each.columns is not None}
    expected = {column for columns in newest.values() for column in columns}

    with TemporaryDirectory() as folder:
        with guarded(Path(folder)) as admin:
            reader = caller(admin, "read", scopes=("*",))
            post(admin, run_of("schema", 55, schema=schema(*COLUMNS)))
            assert {*post(admin, *(each.event() for each in owned))} <= {201}
            live = hidden_from(reader)
        with guarded(Path(folder), start_us=START_US + 10_000_000) as admin:
            restarted = hidden_from(Caller(admin._client, reader.token))

    assert live == restarted == expected


NESTED = facet(
    fields=[
        {"name": "id", "type": "int"},
        {
            "name": "person",
            "type": "struct",
            "fields": [{"name": "zz_ssn", "type": "string", "description": "the SSN"}],
        },
    ]
)
MADE_OF = facet(
    fields={"person.zz_ssn": {"inputFields": [{"namespace": "lake", "name": "raw", "field": "person.zz_ssn"}]}}
)
QUERY = {"sql": facet(query="SELECT p.zz_ssn, person.zz_ssn FROM people p")}


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[Caller]:
    with guarded(tmp_path) as admin:
        made = event(
            eventType="COMPLETE",
            job={"namespace": "etl", "name": "load", "facets": QUERY},
            inputs=[dataset("raw")],
            outputs=[dataset("people", "lake", schema=NESTED, columnLineage=MADE_OF)],
        )
        failed = facet(assertions=[{"assertion": "not_null", "success": False, "column": "zz_ssn"}])
        flat = dataset("flat", "lake", schema=schema("id", "zz_ssn"), dataQualityAssertions=failed)
        other = event(run={"runId": str(uuid4())}, eventType="COMPLETE", inputs=[dataset("raw")], outputs=[flat])
        assert post(admin, made, other) == [201, 201]
        yield admin


@pytest.mark.parametrize("tagged_by", ["by a steward", "by its producer"])
def test_a_restricted_nested_column_is_hidden_in_every_read(admin: Caller, tagged_by: str) -> None:
    if tagged_by == "by a steward":
        assert admin("POST", f"{PEOPLE}/fields/person.zz_ssn/tags/RESTRICTED").status_code == 200
    else:
        tagged = dataset("people", "lake", tags=tags("person.zz_ssn"))
        post(admin, event(run={"runId": str(uuid4())}, eventType="COMPLETE", outputs=[tagged]))
    reader = caller(admin, "read", scopes=("*",))

    paths = [
        PEOPLE,
        f"{PEOPLE}/versions",
        "/api/v1/lineage?nodeId=dataset:lake:people",
        "/api/v1/column-lineage?nodeId=dataset:lake:people",
        "/api/v1/column-lineage?nodeId=dataset:lake:people&withDownstream=true",
        "/api/v1/namespaces/etl/jobs/load",
        "/api/v1/events/lineage",
        "/api/v1/search?q=person",
        "/api/v1/drift",
        "/api/v1/diff?from=log:0",
    ]
    answers = {path: reader("GET", path) for path in paths}

    assert {answer.status_code for answer in answers.values()} == {200}
    assert not [path for path, answer in answers.items() if "zz_ssn" in answer.text.lower()]
    assert '"person"' in answers[PEOPLE].text


GUESSES = [
    "drift?namespace=lake&column={}",
    "quality?nodeId=dataset:lake:flat&column={}",
    "quality?nodeId=datasetField:lake:flat:{}",
    "impact?nodeId=dataset:lake:flat&column={}&change=drop",
    "impact?nodeId=datasetField:lake:flat:{}",
    "impact?nodeId=dataset:lake:flat&column=id&change=rename:{}",
    "impact?nodeId=dataset:lake:flat&change=rename:{}",
    "root-cause?nodeId=dataset:lake:flat&column={}",
    "root-cause?nodeId=datasetField:lake:flat:{}&run=x",
    "diff?from=log:0&nodeId=dataset:lake:flat&column={}",
    "diff?from=log:0&nodeId=datasetField:lake:flat:{}",
    "path?nodeId=datasetField:lake:flat:{}",
    "path?nodeId=dataset:lake:raw&other=datasetField:lake:flat:{}",
    "flow?nodeId=datasetField:lake:flat:{}",
    "neighbours?nodeId=datasetField:lake:flat:{}&way=upstream&type=DATASET",
    "neighbours?nodeId=datasetField:lake:flat:{}&way=upstream&type=DATASET_FIELD",
    "lineage?nodeId=datasetField:lake:flat:{}",
    "lineage?nodeId=dataset:lake:flat&nodeId=datasetField:lake:flat:{}",
    "column-lineage?nodeId=datasetField:lake:flat:{}",
    "column-lineage?nodeId=datasetField:lake:flat:{}&depth=x",
    "column-lineage?nodeId=datasetField:lake:people:person.{}",
    "identity?nodeId=datasetField:lake:flat:{}",
    "identity?nodeId=dataset:lake:flat&other=datasetField:lake:flat:{}",
    "search?q={}",
    "nothing?column={}",
]


@pytest.mark.parametrize("guess", GUESSES)
def test_a_guessed_restricted_column_is_answered_like_an_unknown_column(admin: Caller, guess: str) -> None:
    reader = caller(admin, "read", scopes=("*",))
    assert admin("POST", "/api/v1/namespaces/lake/datasets/flat/fields/zz_ssn/tags/RESTRICTED").status_code == 200

    for column in ("zz_ssn", "ZZ_SSN"):
        absent = column.replace("ssn", "nil").replace("SSN", "NIL")
        guessed, other = (reader("GET", f"/api/v1/{guess.format(each)}") for each in (column, absent))

        assert guessed.status_code == other.status_code
        assert guessed.text.replace(column, absent) == other.text


@pytest.mark.parametrize(
    "guess",
    [
        "impact?nodeId=dataset:lake:wide&column={}",
        "impact?nodeId=datasetField:lake:wide:{}&change=rename:id",
        "impact?nodeId=dataset:lake:wide&column=id&change=rename:{}",
    ],
)
def test_a_guess_of_a_restricted_column_with_a_colon_gets_the_answer_for_an_unknown_column(
    admin: Caller, guess: str
) -> None:
    """HBase names a column by its family, a colon and a qualifier."""
    reader = caller(admin, "read", scopes=("*",))
    wide = dataset("wide", "lake", schema=schema("id", "person:zz_ssn"), tags=tags("person:zz_ssn"))
    assert post(admin, event(run={"runId": str(uuid4())}, eventType="COMPLETE", outputs=[wide])) == [201]

    guessed, other = (reader("GET", f"/api/v1/{guess.format(each)}") for each in ("person:zz_ssn", "person:zz_nil"))

    assert guessed.status_code == other.status_code
    assert guessed.text.replace("zz_ssn", "zz_nil") == other.text


def test_a_caller_who_may_know_a_restricted_column_can_query_it_like_any_other(admin: Caller) -> None:
    trusted = caller(admin, "read", scopes=("*",), knowsRestricted=True)
    admin("POST", "/api/v1/namespaces/lake/datasets/flat/fields/zz_ssn/tags/RESTRICTED")

    assert "zz_ssn" in trusted("GET", "/api/v1/quality?nodeId=datasetField:lake:flat:zz_ssn").text
    assert operator(admin._client)("GET", "/api/v1/impact?nodeId=dataset:lake:flat&column=zz_ssn").status_code == 200
