"""Parts of answers that are cached as JSON."""

from hashlib import sha256

import orjson

from headwater.graph.records import Edge
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.render_cache import JobNode, RenderCache, RunJsonCache, job_data, with_runs, with_seen


def node(number: int) -> JobNode:
    reads = [(DatasetId("lake", "a"), b'{"origin":"dataset:lake:a"}'), (DatasetId("", "b:\0"), b"{}")]
    return JobNode(b'{"id":"job:etl:%d"}' % number, reads, [(DatasetId("lake", "ü"), b"[]")])


def test_a_compressed_job_is_the_same_with_all_its_edges() -> None:
    rendered = RenderCache.empty(max_bytes=200)

    for number in range(3):
        rendered.job_nodes.keep(JobId("etl", str(number)), node(number))

    assert [rendered.job_nodes.get(JobId("etl", str(number))) for number in range(3)] == [node(0), node(1), node(2)]


def test_times_and_counts_of_cached_json_are_replaced_whatever_its_names_contain() -> None:
    first, second = "1970-01-01T00:00:00.001Z", "1970-01-01T00:00:00.002Z"
    name = 'n,"createdAt":"x","firstSeen":"x","latestRun":'
    data = {"name": name, "createdAt": second, "updatedAt": second, "description": name}
    edge = {"origin": name, "destination": name, "firstSeen": second, "lastSeen": second, "runs": 9}
    seen = Seen(1_000, 2_000)

    rendered = with_seen(orjson.dumps(data), seen), with_runs(orjson.dumps(edge), Edge(seen, 2))

    assert orjson.loads(rendered[0]) == {**data, "createdAt": first, "updatedAt": second}
    assert orjson.loads(rendered[1]) == {**edge, "firstSeen": first, "lastSeen": second, "runs": 2}
    job = orjson.dumps({**data, "latestRun": {"createdAt": second, "latestRun": None}})
    assert job_data(job, seen) + b"}" == rendered[0]


def test_runs_are_dropped_one_by_one_and_by_job() -> None:
    texts = RunJsonCache(max_bytes=100)
    load, mart = JobId("etl", "load"), JobId("etl", "mart")
    for job, run_id in ((load, "1"), (load, "2"), (mart, "3"), (mart, "4")):
        texts.keep(job, run_id, b"...")

    texts.drop(["3"])
    texts.drop_all_of([load])

    assert [texts.get(run_id) for run_id in "1234"] == [None, None, None, b"..."]


def test_runs_beyond_the_limit_are_compressed_and_then_evicted() -> None:
    texts = RunJsonCache(max_bytes=1_000)
    load = JobId("etl", "load")
    for number in range(100):
        texts.keep(load, str(number), sha256(b"%d" % number).digest())

    cached = [number for number in range(100) if texts.get(str(number)) is not None]
    texts.drop_all_of([load])

    assert 31 < len(cached) < 70
    assert [texts.get(str(number)) for number in cached] == [None] * len(cached)
