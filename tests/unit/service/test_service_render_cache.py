"""Parts of answers that are kept as JSON."""

from hashlib import sha256

import orjson

from headwater.graph.records import Edge
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.render_cache import JobNode, RenderCache, RunJsonCache, job_data, with_runs, with_seen


def node(number: int) -> JobNode:
    reads = [(DatasetId("lake", "a"), b'{"origin":"dataset:lake:a"}'), (DatasetId("", "b:\0"), b"{}")]
    return JobNode(b'{"id":"job:etl:%d"}' % number, reads, [(DatasetId("lake", "ü"), b"[]")])


def test_a_job_that_was_packed_is_the_same_with_all_its_edges() -> None:
    rendered = RenderCache.empty(max_bytes=200)

    for number in range(3):
        rendered.job_nodes.keep(JobId("etl", str(number)), node(number))

    assert [rendered.job_nodes.get(JobId("etl", str(number))) for number in range(3)] == [node(0), node(1), node(2)]


def test_what_is_rendered_is_told_of_other_times_whatever_its_names_look_like() -> None:
    first, second = "1970-01-01T00:00:00.001Z", "1970-01-01T00:00:00.002Z"
    name = 'n,"createdAt":"x","firstSeen":"x","latestRun":'
    data = {"name": name, "createdAt": second, "updatedAt": second, "description": name}
    edge = {"origin": name, "destination": name, "firstSeen": second, "lastSeen": second, "runs": 9}
    seen = Seen(1_000, 2_000)

    told = with_seen(orjson.dumps(data), seen), with_runs(orjson.dumps(edge), Edge(seen, 2))

    assert orjson.loads(told[0]) == {**data, "createdAt": first, "updatedAt": second}
    assert orjson.loads(told[1]) == {**edge, "firstSeen": first, "lastSeen": second, "runs": 2}
    job = orjson.dumps({**data, "latestRun": {"createdAt": second, "latestRun": None}})
    assert job_data(job, seen) + b"}" == told[0]


def test_runs_are_forgotten_one_by_one_and_all_of_a_job() -> None:
    texts = RunJsonCache(max_bytes=100)
    load, mart = JobId("etl", "load"), JobId("etl", "mart")
    for job, run_id in ((load, "1"), (load, "2"), (mart, "3"), (mart, "4")):
        texts.keep(job, run_id, b"...")

    texts.drop(["3"])
    texts.drop_all_of([load])

    assert [texts.get(run_id) for run_id in "1234"] == [None, None, None, b"..."]


def test_runs_that_find_no_room_are_packed_and_then_given_up() -> None:
    texts = RunJsonCache(max_bytes=1_000)
    load = JobId("etl", "load")
    for number in range(100):
        texts.keep(load, str(number), sha256(b"%d" % number).digest())

    kept = [number for number in range(100) if texts.get(str(number)) is not None]
    texts.drop_all_of([load])

    assert 31 < len(kept) < 70
    assert [texts.get(str(number)) for number in kept] == [None] * len(kept)
