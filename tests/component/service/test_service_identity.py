"""Names of a dataset over the API: which are joined, by what evidence, and how edits separate them."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.store.sqlite import SqliteStore
from tests.support.app import Response, dataset, event, facet, get, post, schema, serving

ORDERS, TABLE = {"namespace": "s3://b", "name": "wh/orders"}, {"namespace": "glue", "name": "sales.orders"}


def ran(run: str, second: int, **ends: object) -> dict[str, Any]:
    return event(
        run={"runId": run}, eventTime=f"2026-05-22T14:23:{second:02d}Z", job={"namespace": "etl", "name": run}, **ends
    )


def linked(run: str, second: int) -> dict[str, Any]:
    symlinks = facet(identifiers=[{**TABLE, "type": "TABLE"}])
    return ran(run, second, outputs=[dataset("wh/orders", "s3://b", symlinks=symlinks)])


def separate(client: TestClient, method: str, **names: object) -> Response:
    return client.request(method, "/api/v1/identity/apart", json=names, headers={"x-headwater-user": "ada"})


def test_the_evidence_has_its_reason_its_times_and_its_number_of_runs(client: TestClient) -> None:
    post(client, ran("reader", 1, inputs=[dataset("sales.orders", "glue")]), linked("w1", 5), linked("w2", 9))

    found = get(client, "/api/v1/identity?nodeId=dataset:s3://b:wh/orders&other=dataset:glue:sales.orders")

    assert found["shown"] == TABLE
    assert found["names"] == [TABLE | {"isShown": True, "runs": 1}, ORDERS | {"isShown": False, "runs": 2}]
    assert (
        found["evidence"]
        == found["path"]
        == [
            {
                "name": TABLE,
                "other": ORDERS,
                "reason": "symlinks",
                "firstSeen": "2026-05-22T14:23:05.000Z",
                "lastSeen": "2026-05-22T14:23:09.000Z",
                "runs": 2,
            }
        ]
    )


def test_a_version_at_the_end_of_a_node_id_is_not_part_of_the_name(client: TestClient) -> None:
    post(client, linked("w", 5), ran("x", 6, outputs=[dataset("t"), dataset("t#1")]))
    version = get(client, "/api/v1/namespaces/glue/datasets/sales.orders")["currentVersion"]
    plain, versioned = (
        get(client, f"/api/v1/identity?nodeId=dataset:glue:sales.orders{end}&other=dataset:s3://b:wh/orders{end}")
        for end in ("", f"%23{version}")
    )

    shown = [get(client, f"/api/v1/identity?nodeId=dataset:lake:{name}")["shown"] for name in ("t%231", "t%232")]

    assert versioned == plain
    assert [each["name"] for each in shown] == ["t#1", "t"]


def test_a_renamed_dataset_has_both_names(client: TestClient) -> None:
    post(client, ran("w", 1, outputs=[dataset("old")]))
    change = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": "lake", "name": "old"})
    post(client, ran("r", 2, outputs=[dataset("new", lifecycleStateChange=change)]))

    found = get(client, "/api/v1/identity?namespace=lake&name=new")
    writers = get(client, "/api/v1/lineage?nodeId=dataset:lake:new")["graph"]

    assert [(each["reason"], each["runs"]) for each in found["evidence"]] == [("rename", 1)]
    assert [node["id"] for node in writers] == ["dataset:lake:new", "job:etl:r", "job:etl:w"]


RENAMED = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": "lake", "name": "old"})


def renaming(*kinds: str, run: str = "r", second: int = 10, is_in_all_events: bool = False) -> list[dict[str, Any]]:
    """A run that renames `old` to `new`, and reports it in its first event, or in all; both tables exist."""
    return [
        ran(
            run,
            second + at,
            outputs=[dataset("new", lifecycleStateChange=RENAMED)] if is_in_all_events or not at else [],
        )
        | {"eventType": kind}
        for at, kind in enumerate(kinds)
    ]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("is_in_all_events", [False, True])
@pytest.mark.parametrize(
    ("events", "is_one"),
    [
        (["START", "FAIL"], False),
        (["START", "ABORT"], False),
        (["START", "COMPLETE"], True),
        (["START", "RUNNING"], True),
        (["START", "FAIL", "COMPLETE"], True),
        (["START", "COMPLETE", "FAIL"], False),
    ],
    ids=["FAIL", "ABORT", "COMPLETE", "RUNNING", "FAIL and COMPLETE", "COMPLETE and FAIL"],
)
def test_a_rename_by_a_failed_run_leaves_two_datasets(
    client: TestClient, events: list[str], is_one: bool, is_in_all_events: bool, order: int
) -> None:
    writes = [ran("w", 1, outputs=[dataset("old", schema=schema("a"))]), ran("v", 2, outputs=[dataset("new")])]
    writes += renaming(*events, is_in_all_events=is_in_all_events)
    reader = ran("z", 3, inputs=[dataset("old")], outputs=[dataset("report")])
    post(client, *[*writes, reader][::order])

    names = get(client, "/api/v1/identity?namespace=lake&name=old")["names"]
    edges = [node["id"] for node in get(client, "/api/v1/lineage?nodeId=dataset:lake:old")["graph"]]
    known = {each["name"] for each in get(client, "/api/v1/namespaces/lake/datasets")["datasets"]}
    then = get(client, "/api/v1/identity?namespace=lake&name=old&asOf=2026-05-22T14:23:10Z")["names"]

    assert [each["name"] for each in names] == (["new", "old"] if is_one else ["old"])
    assert ("job:etl:v" in edges) is is_one
    assert known == ({"new", "report"} if is_one else {"new", "old", "report"})
    assert [each["name"] for each in then] == ["new", "old"]


def test_a_rename_that_failed_in_one_run_and_completed_in_another_counts(client: TestClient) -> None:
    post(client, ran("w", 1, outputs=[dataset("old")]), *renaming("START", "FAIL"))
    post(client, *renaming("START", "COMPLETE", run="again", second=20))

    names = get(client, "/api/v1/identity?namespace=lake&name=old")["names"]

    assert [each["name"] for each in names] == ["new", "old"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_rename_that_a_dataset_event_reports_counts_although_a_run_failed(client: TestClient, order: int) -> None:
    failed = [ran("w", 1, outputs=[dataset("old")]), *renaming("START", "FAIL")]
    about = {member: value for member, value in failed[0].items() if member in ("producer", "schemaURL")}
    declared = about | {
        "eventTime": "2026-05-22T14:23:40Z",
        "dataset": dataset("new", lifecycleStateChange=RENAMED),
    }
    post(client, *[*failed, declared][::order])

    now, then = (
        get(client, f"/api/v1/identity?namespace=lake&name=old{at}")["names"]
        for at in ("", "&asOf=2026-05-22T14:23:39Z")
    )

    assert [[each["name"] for each in names] for names in (now, then)] == [["new", "old"], ["old"]]


def test_names_joined_by_other_evidence_stay_joined_if_a_rename_failed(client: TestClient) -> None:
    linked = facet(identifiers=[{"namespace": "lake", "name": "old", "type": "TABLE"}])
    post(client, ran("w", 1, outputs=[dataset("new", symlinks=linked)]), *renaming("START", "FAIL"))

    found = get(client, "/api/v1/identity?namespace=lake&name=old")

    assert [each["name"] for each in found["names"]] == ["new", "old"]
    assert [each["reason"] for each in found["evidence"]] == ["symlinks"]


def test_a_source_column_of_a_key_with_a_leading_slash_is_of_the_object_that_was_read(
    client: TestClient,
) -> None:
    source = {"namespace": "s3a://b", "name": "/raw/orders", "field": "id"}
    columns = facet(fields={"id": {"inputFields": [source]}})
    read, written = dataset("raw/orders", "s3a://b"), dataset("marts/orders", "s3a://b", columnLineage=columns)

    post(client, ran("spark", 1, inputs=[read], outputs=[written]))

    graph = get(client, "/api/v1/lineage?nodeId=job:etl:spark")["graph"]
    column_graph = get(client, "/api/v1/column-lineage?nodeId=datasetField:s3a://b:marts/orders:id")["graph"]
    assert [node["id"] for node in graph] == [
        "dataset:s3a://b:marts/orders",
        "dataset:s3a://b:raw/orders",
        "job:etl:spark",
    ]
    assert [node["id"] for node in column_graph] == [
        "datasetField:s3a://b:marts/orders:id",
        "datasetField:s3a://b:raw/orders:id",
    ]


def test_topics_with_the_same_in_memory_name_in_flink_are_two_datasets(client: TestClient) -> None:
    def topic(name: str) -> dict[str, Any]:
        in_memory = {"namespace": "kafka://k:9092", "name": "default_catalog.default_database.source", "type": "TABLE"}
        return dataset(name, "kafka://k:9092", symlinks=facet(identifiers=[in_memory]))

    post(client, ran("first", 1, inputs=[topic("clicks")]), ran("second", 2, inputs=[topic("orders")]))

    found = get(client, "/api/v1/identity?namespace=kafka://k:9092&name=clicks")
    assert [each["name"] for each in found["names"]] == ["clicks"]
    assert get(client, "/api/v1/namespaces/etl/jobs/second")["inputs"] == [
        {"namespace": "kafka://k:9092", "name": "orders"}
    ]


def test_names_separated_by_an_edit_are_two_datasets_until_it_is_undone(client: TestClient) -> None:
    post(client, ran("reader", 1, inputs=[dataset("sales.orders", "glue")]), linked("w1", 5))

    separated = separate(client, "POST", name=ORDERS, other=TABLE)
    graph = get(client, "/api/v1/lineage?nodeId=job:etl:reader")["graph"]
    undone = separate(client, "DELETE", name=TABLE, other=ORDERS)

    assert (separated.status_code, [each["name"] for each in separated.json()["names"]]) == (200, ["wh/orders"])
    assert [node["id"] for node in graph] == ["dataset:glue:sales.orders", "job:etl:reader"]
    assert [each["name"] for each in undone.json()["names"]] == ["sales.orders", "wh/orders"]
    assert get(client, "/api/v1/edits")["edits"][0]["entry"]["by"] == "ada"


def test_later_evidence_does_not_join_separated_names_also_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    with closing(SqliteStore(path)) as store, serving(store) as client:
        post(
            client,
            ran("reader", 1, inputs=[dataset("sales.orders", "glue")]),
            ran("w0", 2, outputs=[dataset("wh/orders", "s3://b")]),
        )
        assert separate(client, "POST", name=ORDERS, other=TABLE).status_code == 200
        post(client, linked("w1", 5))
        before = get(client, "/api/v1/identity?nodeId=dataset:s3://b:wh/orders")
    with closing(SqliteStore(path)) as store, serving(store) as client:
        after = get(client, "/api/v1/identity?nodeId=dataset:s3://b:wh/orders")

    assert before == after
    assert [each["name"] for each in after["names"]] == ["wh/orders"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400),
        ("?namespace=lake&name=none", 404),
        ("?nodeId=dataset:lake:none", 404),
        ("?nodeId=job:etl:reader", 404),
    ],
)
def test_an_unknown_name_has_no_identity(client: TestClient, query: str, status: int) -> None:
    post(client, ran("reader", 1))

    assert client.get(f"/api/v1/identity{query}").status_code == status


def test_a_name_cannot_be_separated_from_itself_or_from_an_unknown_one(client: TestClient) -> None:
    post(client, linked("w1", 5))

    assert separate(client, "POST", name=ORDERS, other=ORDERS).status_code == 400
    assert separate(client, "POST", name=ORDERS, other={"namespace": "x", "name": "y"}).status_code == 404


def test_a_name_in_quarantine_lists_the_datasets_it_may_mean(client: TestClient) -> None:
    def table(place: str, warehouse: str) -> dict[str, Any]:
        catalog = facet(framework="iceberg", type="hadoop", name="ice", warehouseUri=warehouse)
        return dataset(f"{place}/s/t", "file", catalog=catalog)

    post(client, ran("flink", 1, inputs=[dataset("ice.s.t", "")]))
    post(client, ran("spark", 2, inputs=[table("/one", "file:///one"), table("/two", "file:///two")]))
    quarantined = get(client, "/api/v1/quarantine")["quarantine"]
    resolved = separate(
        client, "POST", name={"namespace": "", "name": "ice.s.t"}, other={"namespace": "file", "name": "/two/s/t"}
    )

    assert [each["name"] for each in quarantined[0]["candidates"]] == ["/one/s/t", "/two/s/t"]
    assert resolved.json()["shown"] == {"namespace": "file", "name": "/one/s/t"}
    assert get(client, "/api/v1/quarantine")["totalCount"] == 0
    assert get(client, "/api/v1/namespaces/etl/jobs/flink")["inputs"] == [{"namespace": "file", "name": "/one/s/t"}]
    assert "headwater_quarantined 0.0" in client.get("/metrics").text.splitlines()


def test_a_dataset_whose_namespace_only_a_symlink_tells_is_in_every_list_until_it_is_deleted(tmp_path: Path) -> None:
    symlink = facet(identifiers=[{"namespace": "hive", "name": "s.t", "type": "TABLE"}])
    table, listed = "/api/v1/namespaces/hive/datasets/s.t", "/api/v1/namespaces/hive/datasets"

    def names(client: TestClient, as_of: str = "") -> list[str]:
        return [each["name"] for each in get(client, f"{listed}{as_of}")["datasets"]]

    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        post(client, event(outputs=[dataset("t", "", symlinks=symlink, schema=schema("id"))]))

        assert names(client) == names(client, "?asOf=2026-05-22T14:30:00Z") == ["s.t"]
        assert [field["name"] for field in get(client, table)["fields"]] == ["id"]
        assert get(client, "/api/v1/summary")["datasets"] == 1
        found = get(client, "/api/v1/search?q=s.t")["results"]
        assert [each["nodeId"] for each in found] == ["dataset:hive:s.t"]
        graph = get(client, "/api/v1/lineage?nodeId=dataset:hive:s.t")["graph"]
        assert {node["id"] for node in graph} == {"dataset:hive:s.t", "job:etl:load"}
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        assert names(client) == ["s.t"]
        assert client.delete(table).status_code == 200
        assert (names(client), client.get(table).status_code) == ([], 404)


def test_catalogs_resolve_and_join_names_however_warehouse_and_location_are_spelt(client: TestClient) -> None:
    def written_in(run: str, second: int, name: str, metastore: str, warehouse: str) -> dict[str, Any]:
        catalog = facet(
            framework="iceberg", type="hive", name="ice", metadataUri=metastore, warehouseUri=warehouse, source="spark"
        )
        return ran(run, second, outputs=[dataset(name, "s3://lake", catalog=catalog)])

    post(client, ran("flink", 1, inputs=[dataset("ice.sales.o", "")]))
    post(client, written_in("guess", 2, "sales/o", "thrift://MS:9083", "s3a://lake/"))
    post(client, written_in("known", 3, "/sales.db/o", "thrift://ms:9083/", "s3n://lake"))

    shown = get(client, "/api/v1/namespaces/s3%3A%2F%2Flake/datasets")["datasets"]

    assert [each["name"] for each in shown] == ["/sales.db/o"]
    assert [each["rule"] for each in shown[0]["mended"]] == ["namespace-found", "one-table-two-names"]
    assert get(client, "/api/v1/quarantine")["totalCount"] == 0


def test_source_columns_of_files_are_of_the_folder_that_the_event_lists_as_input(client: TestClient) -> None:
    files = [{"namespace": "file", "name": f"/data/in/{name}", "field": "id"} for name in ("p-1.csv", "day=1/p-2.csv")]
    columns = facet(fields={"id": {"inputFields": files}})
    post(
        client,
        ran("spark", 1, inputs=[dataset("/data/in", "file")], outputs=[dataset("o", "file", columnLineage=columns)]),
    )

    column_graph = get(client, "/api/v1/column-lineage?nodeId=datasetField:file:o:id")["graph"]
    graph = get(client, "/api/v1/lineage?nodeId=dataset:file:o")["graph"]
    mended = get(client, "/api/v1/namespaces/file/datasets/o")["mended"]

    assert {node["id"] for node in column_graph} == {"datasetField:file:o:id", "datasetField:file:/data/in:id"}
    assert {node["id"] for node in graph} == {"dataset:file:o", "dataset:file:/data/in", "job:etl:spark"}
    assert [(each["rule"], each["what"]) for each in mended] == [
        ("columns-of-folders", "columns reported from 2 names in /data/in in file are from that folder")
    ]
