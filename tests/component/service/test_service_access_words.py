"""No text about what is hidden from a reader is shown by any read: each such text is a marked word.

Each text of a hidden job, run, dataset or column begins with `zz_`, as does each text about an edge to one.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.app import Response, dataset, event, facet, schema
from tests.support.callers import Caller, caller, guarded

HIDDEN = ["zz_nightly/1", "zz_nightly/2", *(f"0198f7d0-0000-7000-8000-00000000aa{i:02d}" for i in (2, 3))]
"""Runs of hidden jobs; an id that is not a UUID may be a name, so it is hidden too."""
SHOWN = [f"0198f7d0-0000-7000-8000-00000000bb{i:02d}" for i in range(4)]
OPAQUE = re.compile(r"redacted-[0-9a-f]{12}|sha256:[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f-]{21}")
"""Stand-ins for names, digests, and UUIDs made from a digest."""
MARKED = re.compile(r"zz[_:][\w/]+", re.IGNORECASE)


def hidden(name: str, **facets: object) -> dict[str, Any]:
    return dataset(name, "zz_hr", **facets)


def run(
    run_id: str, second: int, job: tuple[str, str], state: str = "COMPLETE", job_facets: object = None, **more: object
) -> dict[str, Any]:
    run_facets = more.pop("run_facets", {})
    return event(
        run={"runId": run_id, "facets": run_facets},
        eventTime=f"2026-05-22T14:23:{second:02d}Z",
        eventType=state,
        job={"namespace": job[0], "name": job[1], "facets": job_facets or {}},
        **more,
    )


def made_from(column: str, source: str, by: str = "zz_by") -> dict[str, Any]:
    """Lineage of a visible column that is made from a hidden and a visible column."""
    transformations = [{"type": "DIRECT", "subtype": "zz_sub", "description": f"zz_of {source}", "masking": True}]
    hidden_source = {"namespace": "zz_hr", "name": "zz_pay", "field": source, "transformations": transformations}
    other = {"namespace": "lake", "name": "shown_source", "field": "s"}
    return facet(
        fields={
            column: {
                "inputFields": [hidden_source, other],
                "transformationDescription": f"zz_outer {by}",
                "transformationType": "MASKED",
            }
        },
        dataset=[
            {
                "namespace": "zz_hr",
                "name": "zz_pay",
                "field": "zz_dep",
                "transformations": [{"type": "INDIRECT", "subtype": "FILTER", "description": "zz_ind"}],
            }
        ],
    )


TAGS = facet(tags=[{"key": "zz_tag", "value": "zz_value", "source": "zz_source"}])
OWNERS = facet(owners=[{"name": "zz_owner", "type": "zz_role"}])
FAILED = {
    "errorMessage": facet(message="zz_error 4711", programmingLanguage="zz_language", stackTrace="zz_stack"),
    "executionParameters": facet(parameters=[{"key": "zz_parameter", "value": "zz_value_of_it"}]),
    "nominalTime": facet(nominalStartTime="2026-05-22T00:00:00Z"),
    "tags": TAGS,
    "processing_engine": facet(name="zz_engine", version="zz_1", openlineageAdapterVersion="zz_2"),
    "externalQuery": facet(externalQueryId="zz_query", source="zz_warehouse"),
}
JOB_FACETS = {
    "ownership": OWNERS,
    "documentation": facet(description="zz_documentation"),
    "sql": facet(query="SELECT zz_select"),
    "tags": TAGS,
    "jobType": facet(processingType="BATCH", integration="ZZ_INTEGRATION", jobType="ZZ_JOB_TYPE"),
    "sourceCodeLocation": facet(type="git", url="https://zz_url/x", version="zz_commit"),
    "sourceCode": facet(language="zz_python", sourceCode="zz_code"),
}
PAY = hidden(
    "zz_pay",
    schema=facet(
        fields=[
            {"name": "zz_c", "type": "zz_int"},
            {"name": "zz_dep", "type": "int", "description": "zz_described"},
            {"name": "zz_s", "type": "struct", "fields": [{"name": "zz_in", "type": "zz_text", "description": "zz_d"}]},
        ]
    ),
    ownership=OWNERS,
    documentation=facet(description="zz_what_it_is"),
    tags=TAGS,
    dataSource=facet(name="zz_source_name", uri="zz://source"),
    symlinks=facet(identifiers=[{"namespace": "zz_glue", "name": "zz_symlink", "type": "TABLE"}]),
    hierarchy=facet(hierarchy=[{"type": "zz_kind", "name": "zz_above"}]),
    catalog=facet(
        framework="zz_framework", type="hive", name="zz_catalog", metadataUri="zz://m", warehouseUri="zz://w"
    ),
    version=facet(datasetVersion="zz_version"),
    storage=facet(storageLayer="zz_layer", fileFormat="zz_format"),
    datasetType=facet(datasetType="ZZ_DASHBOARD", subType="zz_subtype"),
    lifecycleStateChange=facet(
        lifecycleStateChange="RENAME", previousIdentifier={"namespace": "zz_hr", "name": "zz_o"}
    ),
    dataQualityAssertions=facet(assertions=[{"assertion": "zz_between", "success": False, "column": "zz_c"}]),
)
CHANGED = hidden("zz_pay", schema=facet(fields=[{"name": "zz_c2", "type": "zz_other_type"}]))
PARENT = facet(
    run={"runId": HIDDEN[1]},
    job={"namespace": "zz_hr", "name": "zz_parent"},
    root={"run": {"runId": HIDDEN[1]}, "job": {"namespace": "zz_hr", "name": "zz_root"}},
)
AFTER = facet(
    upstream=[{"job": {"namespace": "zz_hr", "name": "zz_before"}, "run": {"runId": HIDDEN[0]}}],
    downstream=[{"job": {"namespace": "zz_hr", "name": "zz_later"}, "dependency_type": "zz_dependency"}],
)
AGGREGATED = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "zz_count of zz_oc"}
OUT = hidden(
    "zz_out",
    ownership=OWNERS,
    columnLineage=facet(
        fields={
            "zz_oc": {
                "inputFields": [
                    {"namespace": "lake", "name": "report", "field": "n", "transformations": [AGGREGATED]},
                ]
            }
        }
    ),
)
FROM_WHO = facet(fields={"n": {"inputFields": [{"namespace": "lake", "name": "customers", "field": "who"}]}})
MEASURED = {"dataQualityMetrics": facet(columnMetrics={"zz_c": {"nullCount": 3}})}
EVENTS = [
    run(HIDDEN[0], 10, ("zz_hr", "zz_fill"), outputs=[PAY], job_facets=JOB_FACETS),
    run(
        SHOWN[0],
        11,
        ("etl", "load"),
        inputs=[{**PAY, "facets": {}, "inputFacets": MEASURED}],
        outputs=[dataset("customers", schema=schema("id", "who"), columnLineage=made_from("who", "zz_c"))],
        run_facets={"parent": PARENT},
    ),
    run(
        SHOWN[1],
        12,
        ("etl", "tell"),
        inputs=[dataset("customers")],
        outputs=[dataset("report", schema=schema("who", "n"), columnLineage=FROM_WHO)],
        run_facets={"jobDependencies": AFTER},
    ),
    run(HIDDEN[1], 13, ("zz_hr", "zz_after"), "FAIL", JOB_FACETS, inputs=[dataset("report")], outputs=[OUT]),
    run(HIDDEN[2], 14, ("zz_hr", "zz_fill"), "FAIL", JOB_FACETS, outputs=[CHANGED], run_facets=FAILED),
    run(
        SHOWN[2],
        15,
        ("etl", "load"),
        inputs=[hidden("zz_pay")],
        outputs=[dataset("customers", schema=schema("id", "who2"), columnLineage=made_from("who2", "zz_c2"))],
    ),
    run(
        SHOWN[3],
        16,
        ("etl", "lin"),
        inputs=[hidden("zz_in", schema=schema("zz_f"))],
        outputs=[
            dataset(
                "l3",
                schema=schema("a"),
                symlinks=facet(identifiers=[{"namespace": "zz_hive", "name": "zz_third", "type": "TABLE"}]),
            )
        ],
    ),
    {
        "eventTime": "2026-05-22T14:23:17Z",
        "producer": "https://zz_producer.example",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent",
        "job": {"namespace": "zz_hr", "name": "zz_declared", "facets": JOB_FACETS},
        "inputs": [dataset("report")],
        "outputs": [hidden("zz_declared_out", ownership=OWNERS)],
    },
]
RENAMED_EVENTS = json.loads(json.dumps(EVENTS).replace("zz", "yy").replace("ZZ", "YY"))
"""The same events, with other words for all that is hidden, which sort in the same places."""
NODES = [
    *(f"dataset:lake:{name}" for name in ("customers", "report", "l3")),
    *(f"job:etl:{name}" for name in ("load", "tell", "lin")),
    *("datasetField:lake:customers:who", "datasetField:lake:report:n", "datasetField:lake:l3:a"),
    *(f"run:{each}" for each in SHOWN[:2]),
    "dataset:zz_hive:zz_third",
]
QUERIES = [
    "",
    "depth=1",
    "depth=20",
    "withDownstream=true",
    "change=drop",
    "change=retype:string&column=n",
    "column=who",
    "way=upstream&type=DATASET",
    "way=downstream&type=JOB",
    "other=dataset:lake:report",
    f"run={SHOWN[0]}",
    f"runId={SHOWN[1]}",
    "asOf=2026-05-22T14:23:13Z",
    "logSize=4",
    "q=a",
    "q=zz",
    "q=yy_th",
    "q=zz_third&match=NAME",
    "limit=1",
    "from=2026-05-22T14:23:11Z&to=2026-05-22T14:23:16Z&namespace=lake",
    f"fromRun={SHOWN[0]}&toRun={SHOWN[2]}",
    "namespace=lake&name=customers",
    "namespace=etl",
    "namespace=lake",
]


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    with guarded(tmp_path_factory.mktemp("words")) as admin:
        post(admin, EVENTS)
        admin("POST", "/api/v1/namespaces/zz_hr/datasets/zz_pay/tags/ZZ_PUT")
        admin("POST", "/api/v1/namespaces/zz_hr/jobs/zz_fill/tags/ZZ_PUT")
        yield admin


def post(admin: Caller, events: list[dict[str, Any]]) -> None:
    for each in events:
        assert admin("POST", "/api/v1/lineage", content=json.dumps(each)).status_code == 201


def reads(admin: Caller) -> Iterator[str]:
    """Every read of the API, about every visible node, with each query that its parameters allow."""
    app: Any = admin._client.app
    for path, methods in app.openapi()["paths"].items():
        if "get" not in methods or path == "/api/v1/stream":
            continue
        names = {each["name"] for each in methods["get"].get("parameters", []) if each["in"] == "query"}
        for filled in {*_filled_paths(admin, path)}:
            for query in QUERIES:
                if not {pair.partition("=")[0] for pair in query.split("&") if pair} <= names:
                    continue
                nodes = NODES if "nodeId" in names and "name=" not in query else [None]
                for node in nodes:
                    yield f"{filled}?{'&'.join(filter(None, (node and f'nodeId={node}', query)))}"


def _filled_paths(admin: Caller, path: str) -> Iterator[str]:
    about = [("lake", name) for name in ("customers", "report", "l3")]
    if "/jobs" in path or "/events/" in path:
        about = [("etl", name) for name in ("load", "tell", "lin")]
    for namespace, name in about:
        for run_id in SHOWN[:2]:
            of = path.replace("{run_id}", run_id)
            of = (
                of.replace("/namespaces/{name}", f"/namespaces/{namespace}") if of.endswith("namespaces/{name}") else of
            )
            of = of.replace("{namespace}", namespace).replace("{name}", name)
            before, is_versioned, _ = of.partition("/{version}")
            if not is_versioned:
                yield of
                continue
            for version in admin("GET", before).json()["versions"]:
                yield f"{before}/{version.get('version') or version['id']['version']}"


def comparable(answer: Response) -> object:
    """An answer in which stand-ins and digests are numbered, so that only their equality counts."""
    numbers: dict[str, int] = {}
    text = OPAQUE.sub(lambda found: f"#{numbers.setdefault(found[0], len(numbers))}", answer.text)
    return answer.status_code, {**answer.headers, "content-length": None}, text


def marked_words(answer: Response) -> set[str]:
    return {*MARKED.findall(answer.text)}


def test_no_read_shows_a_word_about_what_is_hidden(admin: Caller) -> None:
    holder, paths = caller(admin, "read"), [*reads(admin)]

    answers = {path: holder("GET", path) for path in paths}

    marked = {path: marked_words(answer) for path, answer in answers.items()}
    assert {path: found for path, found in marked.items() if found - {*MARKED.findall(path)}} == {}
    assert {answer.status_code for answer in answers.values()} <= {200, 400, 403, 404}
    assert sum(answer.status_code < 400 for answer in answers.values()) > 250


def test_no_answer_depends_on_the_words_about_what_is_hidden(admin: Caller, tmp_path: Path) -> None:
    measured_or_digests = ("/metrics", "/versions/", "/log/")
    paths = [path for path in reads(admin) if not any(each in path for each in measured_or_digests)]
    (tmp_path / "other").mkdir()
    with guarded(tmp_path) as first, guarded(tmp_path / "other") as other:
        post(first, EVENTS)
        post(other, RENAMED_EVENTS)
        holders = [caller(each, "read", name="reader") for each in (first, other)]

        differing = [path for path in paths if len({str(comparable(holder("GET", path))) for holder in holders}) > 1]

    assert differing == []
    assert len(paths) > 500


def test_everything_hidden_in_these_reads_is_shown_to_an_admin(admin: Caller) -> None:
    found = set().union(*(marked_words(admin("GET", path)) for path in reads(admin)))

    marked = {each for hidden_event in EVENTS for each in MARKED.findall(json.dumps(hidden_event))}
    assert {*marked} - found <= {"zz_producer"}


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        ({}, {"run_facets": FAILED}, "FAIL"),
        ({"outputs": [PAY]}, {"outputs": [CHANGED]}, "COMPLETE"),
        (
            {"run_facets": {"executionParameters": facet(parameters=[{"key": "zz_p", "value": "zz_1"}])}},
            {"run_facets": {"executionParameters": facet(parameters=[{"key": "zz_p", "value": "zz_2"}])}},
            "COMPLETE",
        ),
        ({"outputs": [CHANGED]}, {"outputs": [PAY]}, "COMPLETE"),
        ({"job_facets": {"sql": facet(query="SELECT zz_1")}}, {"job_facets": JOB_FACETS}, "COMPLETE"),
    ],
    ids=["failed", "schema", "parameters", "check", "sql"],
)
def test_the_summary_of_a_root_cause_redacts_what_its_findings_redact(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], state: str
) -> None:
    filled: dict[str, Any] = {"outputs": [hidden("zz_pay")]}
    loaded: dict[str, Any] = {"inputs": [hidden("zz_pay")], "outputs": [dataset("customers")]}
    with guarded(tmp_path) as admin:
        for each in (
            run(HIDDEN[0], 10, ("zz_hr", "zz_fill"), **(filled | first)),
            run(SHOWN[0], 11, ("etl", "load"), **loaded),
            run(HIDDEN[1], 12, ("zz_hr", "zz_fill"), state, **(filled | second)),
            run(SHOWN[1], 13, ("etl", "load"), **loaded),
        ):
            assert admin("POST", "/api/v1/lineage", content=json.dumps(each)).status_code == 201

        answer = caller(admin, "read")("GET", "/api/v1/root-cause?nodeId=dataset:lake:customers")
        complete = admin("GET", "/api/v1/root-cause?nodeId=dataset:lake:customers").json()

    assert marked_words(answer) == set()
    assert complete["findings"][0]["words"] in complete["summary"]
    assert answer.json()["summary"] == complete["summary"].replace(complete["findings"][0]["words"], "redacted")


def test_a_column_with_a_hidden_source_omits_the_description_of_all_sources(admin: Caller) -> None:
    holder = caller(admin, "read")

    graph = holder("GET", "/api/v1/column-lineage?nodeId=datasetField:lake:customers:who2").json()["graph"]

    (data,) = (node["data"] for node in graph if node["id"] == "datasetField:lake:customers:who2")
    assert (data["transformationDescription"], data["transformationType"]) == (None, "MASKED")
    assert {source["namespace"] for source in data["inputFields"]} == {"redacted", "lake"}
