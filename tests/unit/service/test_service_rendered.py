"""Parts of answers that are kept as JSON."""

from headwater.model.names import DatasetId, JobId
from headwater.service.rendered import JobNode, Rendered, RunTexts


def node(number: int) -> JobNode:
    reads = [(DatasetId("lake", "a"), b'{"origin":"dataset:lake:a"}'), (DatasetId("", "b:\0"), b"{}")]
    return JobNode(b'{"id":"job:etl:%d"}' % number, reads, [(DatasetId("lake", "ü"), b"[]")])


def test_a_job_that_was_packed_is_the_same_with_all_its_edges() -> None:
    rendered = Rendered(max_bytes=200)

    for number in range(3):
        rendered.job_nodes.keep(JobId("etl", str(number)), node(number))

    assert [rendered.job_nodes.get(JobId("etl", str(number))) for number in range(3)] == [node(0), node(1), node(2)]


def test_runs_are_forgotten_one_by_one_all_of_a_job_and_where_there_is_no_room() -> None:
    texts = RunTexts(max_bytes=10)
    load, mart = JobId("etl", "load"), JobId("etl", "mart")
    for job, run_id in ((load, "1"), (load, "2"), (mart, "3"), (mart, "4")):
        texts.keep(job, run_id, b"...")
    assert [texts.get(run_id) for run_id in "1234"] == [None, b"...", b"...", b"..."]

    texts.forget(["3"])
    texts.forget_all_of([load])

    assert [texts.get(run_id) for run_id in "1234"] == [None, None, None, b"..."]
