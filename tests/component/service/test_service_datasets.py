"""Datasets and their versions in the reads, compared with known ones."""

import json
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from headwater.model.events import parse_event
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore
from tests.support.app import RUN, Body, dataset, event, facet, get, post, schema, serving, without_run
from tests.support.lineage_events import LAKE, job, run_event, symlinks
from tests.support.reads import read_everything


def test_names_of_a_dataset_are_joined_also_when_the_symlink_arrives_late(client: TestClient) -> None:
    post(client, run_event("w", "COMPLETE", 1, job=job("write"), outputs=[dataset("wh/orders", "s3://b")]))
    post(client, run_event("r", "COMPLETE", 2, job=job("read"), inputs=[dataset("sales.orders", "glue")]))
    apart = get(client, "/api/v1/lineage?nodeId=job:etl:read")["graph"]
    link = symlinks(("glue", "sales.orders"), ("hive", "sales.orders"))
    post(
        client,
        run_event("w2", "COMPLETE", 3, job=job("write"), outputs=[dataset("wh/orders", "s3://b", symlinks=link)]),
    )

    joined = get(client, "/api/v1/lineage?nodeId=job:etl:read")["graph"]
    by_name = {
        namespace: get(client, f"/api/v1/namespaces/{quote(namespace, safe='')}/datasets/{quote(name, safe='')}")
        for namespace, name in (("s3://b", "wh/orders"), ("glue", "sales.orders"), ("hive", "sales.orders"))
    }

    assert [node["id"] for node in apart] == ["dataset:glue:sales.orders", "job:etl:read"]
    assert [node["id"] for node in joined] == ["dataset:glue:sales.orders", "job:etl:read", "job:etl:write"]
    assert [each["name"] for each in by_name.values()] == ["wh/orders", "sales.orders", "sales.orders"]
    assert {each["physicalName"] for each in by_name.values()} == {"sales.orders"}
    assert len({each["currentVersion"] for each in by_name.values()}) == 1
    assert by_name["hive"]["symlinks"] == [
        {"namespace": "glue", "name": "sales.orders"},
        {"namespace": "s3://b", "name": "wh/orders"},
    ]
    assert get(client, "/api/v1/summary")["datasets"] == 1


def test_the_type_of_a_dataset_is_shown_in_the_graph_too(client: TestClient) -> None:
    board = dataset("sales", "bi", datasetType=facet(datasetType="DASHBOARD"))
    post(client, run_event("r", "COMPLETE", 1, inputs=[dataset("orders")], outputs=[board]))

    graph = {node["id"]: node["data"] for node in get(client, "/api/v1/lineage?nodeId=dataset:bi:sales")["graph"]}

    assert graph["dataset:bi:sales"]["datasetType"] == "DASHBOARD"
    assert get(client, "/api/v1/namespaces/bi/datasets/sales")["datasetType"] == "DASHBOARD"
    assert "datasetType" not in graph["dataset:lake:orders"]


def test_each_change_of_schema_makes_a_version_and_a_change_back_repeats_one(client: TestClient) -> None:
    for second, columns in ((1, "a"), (2, "a"), (3, "ab"), (5, "a")):
        post(client, run_event(f"r{second}", "COMPLETE", second, outputs=[dataset("t", schema=schema(*columns))]))

    versions = get(client, f"{LAKE}/t/versions")

    assert [(version["createdAt"][17:19], len(version["fields"])) for version in versions["versions"]] == [
        ("05", 1),
        ("03", 2),
        ("01", 1),
    ]
    assert [version["createdByRun"]["id"] for version in versions["versions"]] == ["r5", "r3", "r1"]
    assert versions["versions"][0]["version"] == versions["versions"][2]["version"]
    assert get(client, f"{LAKE}/t")["currentVersion"] == versions["versions"][0]["version"]


def test_a_late_event_falls_between_versions(client: TestClient) -> None:
    post(client, run_event("r1", "COMPLETE", 1, outputs=[dataset("t", schema=schema("a"))]))
    post(client, run_event("r9", "COMPLETE", 9, outputs=[dataset("t", schema=schema("a"))]))
    before = get(client, f"{LAKE}/t/versions")["totalCount"]
    post(client, run_event("late", "COMPLETE", 5, outputs=[dataset("t", schema=schema("b"))]))

    assert (before, get(client, f"{LAKE}/t/versions")["totalCount"]) == (1, 3)


def test_a_run_shows_the_version_it_read_and_not_the_newest(client: TestClient) -> None:
    post(client, run_event("w1", "COMPLETE", 1, outputs=[dataset("t", schema=schema("a"))]))
    post(client, run_event("reader", "COMPLETE", 2, job=job("read"), inputs=[dataset("t")]))
    post(client, run_event("w2", "COMPLETE", 3, outputs=[dataset("t", schema=schema("a", "b"))]))

    (read_version,) = get(client, "/api/v1/jobs/runs/reader")["inputDatasetVersions"]
    newest, oldest = get(client, f"{LAKE}/t/versions")["versions"]

    assert read_version["datasetVersionId"]["version"] == oldest["version"] != newest["version"]
    assert get(client, f"{LAKE}/t/versions/{oldest['version']}")["fields"][0]["name"] == "a"


def test_a_snapshot_id_makes_a_version_too(client: TestClient) -> None:
    for second in (1, 2):
        version = facet(datasetVersion=f"snapshot-{second}")
        written = dataset("t", schema=schema("a"), version=version)
        post(client, run_event(f"r{second}", "COMPLETE", second, outputs=[written]))

    versions = get(client, f"{LAKE}/t/versions")["versions"]

    assert [version["facets"]["version"]["datasetVersion"] for version in versions] == ["snapshot-2", "snapshot-1"]
    assert len({version["currentSchemaVersion"] for version in versions}) == 1


@pytest.mark.parametrize("added", ["b", "c", "d", "e"])  # various digests: without a rule they would decide the order
def test_a_table_that_a_run_reads_and_writes_has_the_version_written(client: TestClient, added: str) -> None:
    def merged(second: int, before: dict[str, object], after: dict[str, object]) -> dict[str, object]:
        return run_event(
            f"r{second}", "COMPLETE", second, inputs=[dataset("t", **before)], outputs=[dataset("t", **after)]
        )

    def shape(snapshot: str, *columns: str) -> dict[str, object]:
        return {"version": facet(datasetVersion=snapshot), "schema": schema(*columns)}

    post(client, merged(1, shape("10", "a"), shape("11", "a", added)))
    shown = get(client, f"{LAKE}/t")
    new, old = get(client, f"{LAKE}/t/versions")["versions"]
    run = get(client, "/api/v1/jobs/runs/r1")
    (drift,) = get(client, "/api/v1/drift?nodeId=dataset:lake:t")["drift"]

    assert [each["name"] for each in shown["fields"]] == ["a", added]
    assert shown["facets"]["version"]["datasetVersion"] == "11"
    assert shown["currentVersion"] == new["version"]
    assert [each["name"] for each in old["fields"]] == ["a"]
    assert (new["createdByRun"]["id"], old["createdByRun"]) == ("r1", None)
    run_versions = [
        run[side][0]["datasetVersionId"]["version"] for side in ("inputDatasetVersions", "outputDatasetVersions")
    ]
    assert run_versions == [old["version"], new["version"]]
    assert [(each["column"], each["change"]) for each in drift["changes"]] == [(added, "added")]

    post(client, merged(2, shape("11", "a", added), shape("12", "a", added)))
    assert get(client, f"{LAKE}/t/versions")["totalCount"] == 3
    then = get(client, f"{LAKE}/t?asOf=2026-05-22T14:23:01Z")
    assert then["currentVersion"] == new["version"]


def test_a_table_that_a_job_is_declared_to_read_and_write_has_the_schema_written(client: TestClient) -> None:
    for number in range(4):
        name = f"t{number}"
        sides = {"inputs": [dataset(name, schema=schema("a"))], "outputs": [dataset(name, schema=schema("a", name))]}
        declared = event(**sides, job=job(name))
        post(client, without_run(declared))

        assert [each["name"] for each in get(client, f"{LAKE}/{name}")["fields"]] == ["a", name]


def test_reads_still_answer_while_the_store_is_ahead_of_the_graph(tmp_path: Path) -> None:
    first = run_event("r", "START", 1, outputs=[dataset("t", schema=schema("a"))])
    written = [{**dataset("t", schema=schema("b")), "outputFacets": {"x": facet()}}, dataset("new", schema=schema("c"))]
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        post(client, first)
        for run in ("r", "another"):
            body = run_event(run, "COMPLETE", 2, outputs=written, inputs=written)
            store.add([entry_of(parse_event(json.dumps(body).encode()), "unsigned", None, received_us=1)])

        read_everything(client)


def test_a_declared_dataset_has_its_declared_version(client: TestClient) -> None:
    post(
        client,
        {
            "eventTime": "2026-05-22T14:23:11Z",
            "producer": "p",
            "dataset": dataset("t", schema=schema("a"), documentation=facet(description="declared")),
        },
    )

    (version,) = get(client, f"{LAKE}/t/versions")["versions"]
    shown = get(client, f"{LAKE}/t")

    assert (version["createdByRun"], version["fields"][0]["name"]) == (None, "a")
    assert (shown["description"], shown["currentVersion"]) == ("declared", version["version"])


def test_a_declared_version_has_all_the_facets_of_its_event(client: TestClient) -> None:
    def declared(second: int, **members: object) -> Body:
        return {"eventTime": f"2026-05-22T14:23:1{second}Z", "producer": "p", **members}

    def table(change: str, *columns: str) -> Body:
        changed = facet(lifecycleStateChange=change)
        return dataset(
            "t", schema=schema(*columns), lifecycleStateChange=changed, documentation=facet(description=change)
        )

    by_a_job = {"job": job("load"), "inputs": [dataset("other")], "outputs": [table("ALTER", "a", "b", "c")]}
    post(
        client,
        declared(1, dataset=table("CREATE", "a")),
        declared(2, dataset=table("OVERWRITE", "a", "b")),
        declared(3, **by_a_job),
    )

    versions = get(client, f"{LAKE}/t/versions")["versions"]

    assert [(len(each["fields"]), each["lifecycleState"]) for each in versions] == [
        (3, "ALTER"),
        (2, "OVERWRITE"),
        (1, "CREATE"),
    ]
    assert [each["facets"]["documentation"]["description"] for each in versions] == ["ALTER", "OVERWRITE", "CREATE"]
    assert [each["createdByRun"] for each in versions] == [None] * 3


@pytest.mark.parametrize(("change", "deleted"), [("CREATE", False), ("DROP", True)])
def test_a_dropped_dataset_is_shown_as_deleted(client: TestClient, change: str, deleted: bool) -> None:
    written = dataset("t", lifecycleStateChange=facet(lifecycleStateChange=change))
    post(client, run_event(RUN, "COMPLETE", 1, outputs=[written]))

    shown = get(client, f"{LAKE}/t")

    assert (shown["lastLifecycleState"], shown["deleted"]) == (change, deleted)


DROPPED = dataset("t", lifecycleStateChange=facet(lifecycleStateChange="DROP"))


@pytest.mark.parametrize(
    ("since", "deleted"),
    [
        (run_event("w", "COMPLETE", 3, outputs=[dataset("t")]), False),
        ({"eventTime": "2026-05-22T14:23:03Z", "producer": "p", "dataset": dataset("t")}, False),
        (run_event("r", "COMPLETE", 3, inputs=[dataset("t")]), True),
        (run_event("d", "COMPLETE", 3, outputs=[dataset("t")]), True),
        (run_event("w", "COMPLETE", 1, outputs=[dataset("t")]), True),
    ],
    ids=["written again", "declared again", "read", "reported again by the job that dropped it", "written before"],
)
def test_a_dropped_dataset_that_is_written_again_is_no_longer_deleted(
    client: TestClient, since: Body, deleted: bool
) -> None:
    post(client, run_event("d", "START", 2, outputs=[DROPPED]), since)

    assert get(client, f"{LAKE}/t")["deleted"] is deleted


@pytest.mark.parametrize(("run", "deleted"), [("d", True), ("w", False)])
def test_a_dropped_dataset_stays_deleted_when_the_same_run_then_uses_another_of_its_names(
    client: TestClient, run: str, deleted: bool
) -> None:
    """Spark names a Glue table by its folder, `sales/t`, before it knows that it is `sales.db/t`."""
    alias = {"namespace": "lake", "name": "sales.db/t", "type": "LOCATION"}
    known = dataset("t", symlinks=facet(identifiers=[alias]))
    post(client, run_event("w0", "COMPLETE", 1, outputs=[known]), run_event("d", "START", 2, outputs=[DROPPED]))
    post(client, run_event(run, "COMPLETE", 3, outputs=[dataset("sales.db/t")]))

    shown = get(client, f"{LAKE}/t")

    assert (shown["deleted"], shown["lastLifecycleState"]) == (deleted, "DROP" if deleted else "")


def renamed(second: int, former: str, name: str) -> Body:
    change = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": "lake", "name": former})
    return run_event(f"r{second}", "COMPLETE", second, outputs=[dataset(name, lifecycleStateChange=change)])


def dropped(second: int, name: str) -> Body:
    change = facet(lifecycleStateChange="DROP")
    return run_event(f"r{second}", "COMPLETE", second, outputs=[dataset(name, lifecycleStateChange=change)])


def written(second: int, name: str, **facets: object) -> list[Body]:
    """A run that starts to write at `second` and ends a second later."""
    times = (("START", second), ("COMPLETE", second + 1))
    return [run_event(f"w{second}", kind, at, outputs=[dataset(name, **facets)]) for kind, at in times]


def declared(second: int, name: str) -> Body:
    return {"eventTime": f"2026-05-22T14:23:{second:02d}Z", "producer": "p", "dataset": dataset(name)}


BACKED_UP = [*written(1, "t"), renamed(5, "t", "t_old")]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("rebuilt", "state", "deleted"),
    [
        (written(7, "t"), "", False),
        (written(7, "t", lifecycleStateChange=facet(lifecycleStateChange="CREATE")), "CREATE", False),
        ([declared(7, "t")], "", False),
        ([], "DROP", True),
        (written(3, "t"), "DROP", True),
        (written(7, "t_old"), "DROP", True),
        ([*written(7, "t"), renamed(9, "t", "u"), dropped(11, "u")], "DROP", True),
    ],
    ids=["written", "created", "declared", "not", "written before", "old one written", "written, renamed and dropped"],
)
def test_a_table_rebuilt_under_its_old_name_survives_the_drop_of_its_renamed_backup(
    client: TestClient, rebuilt: list[Body], state: str, deleted: bool, order: int
) -> None:
    post(client, *[*BACKED_UP, *rebuilt, dropped(20, "t_old")][::order])

    shown = [get(client, f"{LAKE}/{name}") for name in ("t", "t_old")]

    assert {(each["lastLifecycleState"], each["deleted"]) for each in shown} == {(state, deleted)}


def dropping(second: int, *ends: str, reported_by: str = "all") -> list[Body]:
    """A run that drops `t`, and reports it in its first event or in all."""
    repeated = [DROPPED] if reported_by == "all" else []
    kinds = enumerate(("START", *ends))
    return [run_event("drop", kind, second + at, outputs=repeated if at else [DROPPED]) for at, kind in kinds]


CREATED = {"lifecycleStateChange": facet(lifecycleStateChange="CREATE")}


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("reported_by", ["all", "the first"])
@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (["FAIL"], ("CREATE", False)),
        (["ABORT"], ("CREATE", False)),
        (["COMPLETE"], ("DROP", True)),
        (["RUNNING"], ("DROP", True)),
        (["FAIL", "COMPLETE"], ("DROP", True)),
    ],
    ids=["FAIL", "ABORT", "COMPLETE", "RUNNING", "FAIL and COMPLETE"],
)
def test_a_drop_by_a_failed_run_does_not_count(
    client: TestClient, end: list[str], reported_by: str, expected: tuple[str, bool], order: int
) -> None:
    post(client, *[*written(1, "t", **CREATED), *dropping(10, *end, reported_by=reported_by)][::order])

    now, before = (get(client, f"{LAKE}/t{query}") for query in ("", "?asOf=2026-05-22T14:23:10Z"))

    assert (now["lastLifecycleState"], now["deleted"]) == expected
    assert (before["lastLifecycleState"], before["deleted"]) == ("DROP", True)


def test_a_drop_by_a_failed_run_does_not_count_for_a_dataset_known_only_from_that_run(client: TestClient) -> None:
    post(client, *dropping(10, "FAIL"))

    shown = get(client, f"{LAKE}/t")
    assert (shown["lastLifecycleState"], shown["deleted"]) == ("", False)


SWAP = [renamed(10, "t", "t_old"), renamed(11, "t_new", "t"), dropped(12, "t_old")]
IN_GLUE = facet(identifiers=[{"namespace": "glue", "name": "t", "type": "TABLE"}])


@pytest.mark.parametrize(
    ("events", "state", "deleted"),
    [
        (SWAP, "RENAME", False),
        ([*SWAP, run_event("r20", "COMPLETE", 20, inputs=[dataset("t", symlinks=IN_GLUE)])], "RENAME", False),
        ([*SWAP, renamed(20, "t", "t_old"), renamed(21, "t_new", "t"), dropped(22, "t_old")], "RENAME", False),
        ([*SWAP, dropped(13, "t")], "DROP", True),
        ([*SWAP, renamed(13, "t", "u"), dropped(14, "u")], "DROP", True),
        ([renamed(10, "t", "u"), dropped(11, "u")], "DROP", True),
        ([renamed(10, "t", "u"), renamed(11, "u", "v"), dropped(12, "v")], "DROP", True),
    ],
    ids=[
        "swapped",
        "swapped and read with a symlink",
        "swapped again",
        "swapped and dropped",
        "swapped, renamed, dropped",
        "renamed",
        "renamed twice",
    ],
)
def test_tables_swapped_by_renames_leave_one_table(
    client: TestClient, events: list[Body], state: str, deleted: bool
) -> None:
    post(client, *events)

    shown = get(client, f"{LAKE}/t")

    assert (shown["lastLifecycleState"], shown["deleted"]) == (state, deleted)


def test_each_version_has_its_lifecycle_change(client: TestClient) -> None:
    def changed_by(second: int, change: str | None, *columns: str) -> Body:
        changed = {} if change is None else {"lifecycleStateChange": facet(lifecycleStateChange=change)}
        return run_event(f"r{second}", "COMPLETE", second, outputs=[dataset("t", schema=schema(*columns), **changed)])

    post(client, changed_by(1, "CREATE", "a"), changed_by(2, None, "a", "b"), changed_by(3, "DROP", "a", "b"))
    dropped, versions = get(client, f"{LAKE}/t"), get(client, f"{LAKE}/t/versions")["versions"]
    post(client, changed_by(4, None, "a", "b"))
    again, then = get(client, f"{LAKE}/t"), get(client, f"{LAKE}/t/versions")["versions"]

    assert [each["lifecycleState"] for each in versions] == ["", "CREATE"]
    assert [each["lifecycleState"] for each in then] == ["", "CREATE"]
    assert [(each["lastLifecycleState"], each["deleted"]) for each in (dropped, again)] == [("DROP", True), ("", False)]


FIELD, OTHER_FIELD = {"name": "a", "type": "int"}, {"name": "b", "type": "int"}
PLACED = [{**FIELD, "ordinal_position": 1}, {**OTHER_FIELD, "ordinal_position": 2}]


@pytest.mark.parametrize(
    ("first", "other", "are_same"),
    [
        (facet(fields=[FIELD]), facet(fields=[FIELD], _producer="https://example.org/2"), True),
        (facet(fields=[FIELD]), facet(fields=[FIELD], _schemaURL="https://example.org/2.json"), True),
        (facet(fields=[FIELD]), facet(fields=[{**FIELD, "description": None}]), True),
        (facet(fields=PLACED), facet(fields=PLACED[::-1]), True),
        (facet(fields=[FIELD]), facet(fields=[{**FIELD, "description": "an a"}]), False),
        (facet(fields=[FIELD, OTHER_FIELD]), facet(fields=[OTHER_FIELD, FIELD]), False),
        (facet(fields=[FIELD]), facet(fields=[FIELD], _deleted=True), False),
    ],
    ids=["producer", "schemaURL", "null", "order of places", "description", "order", "taken back"],
)
def test_equal_schemas_make_one_version_whoever_reports_them(
    client: TestClient, first: Body, other: Body, are_same: bool
) -> None:
    events = [
        run_event(f"r{at}", "COMPLETE", at, outputs=[dataset("t", schema=each)])
        for at, each in ((1, first), (2, other), (3, first))
    ]
    post(client, *events)

    versions = [each["version"] for each in get(client, f"{LAKE}/t/versions")["versions"]]
    run_versions = [
        get(client, f"/api/v1/jobs/runs/r{at}")["outputDatasetVersions"][0]["datasetVersionId"] for at in (1, 2, 3)
    ]

    assert len(versions) == (1 if are_same else 3)
    assert [each["version"] == versions[-1] for each in run_versions] == [True, are_same, True]


def test_nested_columns_are_shown_inside_their_parent(client: TestClient) -> None:
    nested = facet(fields=[{"name": "who", "type": "struct", "fields": [{"name": "id", "type": "int"}]}])
    post(client, event(inputs=[dataset("t", schema=nested)]))

    (field,) = get(client, f"{LAKE}/t")["fields"]

    assert (field["name"], field["fields"][0]["name"]) == ("who", "id")
