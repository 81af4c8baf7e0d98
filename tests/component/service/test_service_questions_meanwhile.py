"""Questions that yield to other tasks are answered whatever the graph learns meanwhile."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import count, pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import HeadwaterError
from headwater.graph.impact.change import Change
from headwater.model.names import ColumnId, DatasetId
from headwater.service.background import result_in_slices
from headwater.service.http.as_of import AsOf
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.past.pasts import Past
from headwater.service.views import diff
from headwater.service.views.causes import Question, root_cause
from headwater.service.views.checks import checks_of
from headwater.service.views.columns import Options, column_lineage
from headwater.service.views.drift import DriftQuery, schema_drift
from headwater.service.views.impact import Page, impact
from headwater.service.views.path import path
from headwater.service.views.quality import newest_quality
from headwater.service.views.timeline import is_measured, quality_timeline
from headwater.service.views.upstream import upstream_runs
from headwater.store.sqlite import SqliteStore
from tests.component.service.test_service_past_counts import BEGIN_US, KnowledgeWithPasts, new_store
from tests.support.app import Body, dataset, event, without_run
from tests.support.flights import columns, schema, source
from tests.support.logs import events, logs

Ask = Callable[[KnowledgeWithPasts, Past, DatasetId], Awaitable[object]]


async def _diff(service: KnowledgeWithPasts, past: Past, name: DatasetId) -> object:
    before = await service.pasts.past(AsOf(BEGIN_US + 20_000_000))
    query = diff.DiffQuery(name.node_id, None, 100, 0)
    return await diff.diff(before, past, query, service.store.another_reader)


async def _upstream(_: KnowledgeWithPasts, past: Past, name: DatasetId) -> None:
    known = past.knowledge
    for run_id in [run_id for job in known.graph.writers(name) for run_id in known.graph.jobs[job].runs]:
        await upstream_runs(known, known.run(run_id), 20)


async def _causes_of_jobs(_: KnowledgeWithPasts, past: Past, name: DatasetId) -> None:
    for job in sorted(past.knowledge.graph.writers(name)):
        if past.knowledge.is_job(job):
            await root_cause(past.knowledge, Question(job, None, 20))


async def _impact_of_jobs(_: KnowledgeWithPasts, past: Past, name: DatasetId) -> None:
    for job in sorted(past.knowledge.graph.readers(name)):
        if past.knowledge.is_job(job):
            await impact(past.knowledge, job, None, Page(100))


QUESTIONS: Sequence[Ask] = (
    lambda _, past, name: impact(past.knowledge, name, None, Page(100)),
    _impact_of_jobs,
    lambda _, past, name: impact(past.knowledge, name, Change("drop"), Page(100)),
    lambda _, past, name: impact(past.knowledge, ColumnId(name, "a"), Change("drop"), Page(100)),
    lambda _, past, name: path(past.knowledge, name, 20, 1000),
    lambda _, past, name: root_cause(past.knowledge, Question(name, None, 20)),
    _causes_of_jobs,
    lambda _, past, name: column_lineage(past.knowledge, name, Options(20, with_downstream=True)),
    lambda _, past, __: schema_drift(past.knowledge, DriftQuery()),
    lambda _, past, name: quality_timeline(past.knowledge, name, 100, 0),
    lambda _, past, name: is_measured(past.knowledge, ColumnId(name, "nowhere")),
    _diff,
    _upstream,
)


@contextlib.contextmanager
def turns_after_each_step() -> Iterator[None]:
    """Code that yields after some time yields after each step: by its clock, each takes a second."""
    with mock.patch("time.perf_counter", side_effect=count()):
        yield


def _written(kind: str, number: int, second: int, variant: tuple[str, int]) -> bytes:
    """An event of a run, a job or a dataset, by which t1, t2 or t3 is made from the dataset before it."""
    shape, run = variant
    sources = [source(f"t{number}", "a", "DIRECT", "IDENTITY")] if shape != "nothing" else []
    facets = {"columnLineage": columns([], a=sources)} if shape != "unreported" else {}
    output = dataset(f"t{number + 1}", schema=schema(a="int", b="int"), **facets)
    body: Body = event(
        eventType="COMPLETE",
        eventTime=f"2026-05-22T14:23:{second:02d}Z",
        run={"runId": f"0198f7d0-0000-7000-8000-{run:012d}"},
        job={"namespace": "etl", "name": f"job{(number + (shape == 'other job')) % 3}"},
        inputs=[dataset(f"t{number}", schema=schema(a="int"))],
        outputs=[output],
    )
    if kind != "run":
        body = without_run(body)
    if kind == "dataset":
        body = {member: value for member, value in body.items() if member not in ("job", "inputs", "outputs")}
        body["dataset"] = output
    return json.dumps(body).encode()


_chains = st.lists(
    st.builds(
        _written,
        st.sampled_from(["run", "run", "job", "dataset"]),
        st.integers(0, 2),
        st.integers(0, 59),
        st.tuples(st.sampled_from(["reported", "reported", "unreported", "nothing", "other job"]), st.integers(0, 9)),
    ),
    min_size=4,
    max_size=16,
)
"""Logs of a chain of few datasets, in which every event reports what one is made from."""


async def _ask_while_learning(service: KnowledgeWithPasts, past: Past, later: Sequence[bytes]) -> None:
    """Ask all questions at once, and learn one more event each time that they yield."""
    names = [DatasetId("lake", f"t{number}") for number in range(4)]
    known = filter(past.knowledge.is_dataset, names)
    questions = [asyncio.ensure_future(ask(service, past, name)) for name in known for ask in QUESTIONS]
    for raw in later:
        await asyncio.sleep(0)
        service.learn([raw])
    for answer in await asyncio.gather(*questions, return_exceptions=True):
        if isinstance(answer, BaseException) and not isinstance(answer, HeadwaterError):
            raise answer


@given(_chains | logs, _chains | st.lists(events, min_size=1, max_size=16), st.integers(0, 59) | st.none())
@settings(deadline=None, max_examples=15)
def test_a_question_is_answered_whatever_is_learned_meanwhile(
    log: list[bytes], later: list[bytes], second: int | None
) -> None:
    async def ask_all() -> None:
        with new_store() as store:
            service = KnowledgeWithPasts(store)
            service.learn(log)
            past = await service.pasts.past(AsOf(None if second is None else BEGIN_US + second * 1_000_000))
            await _ask_while_learning(service, past, later)
            service.pasts.stop()

    with turns_after_each_step():
        asyncio.run(ask_all())


class _CountingStore(SqliteStore):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.contents_read = 0
        read = self.content

        def counted(digest: bytes) -> Mapping[str, Any]:
            self.contents_read += 1
            return read(digest)

        self.content = lru_cache(maxsize=0)(counted)

    def bodies(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        self.contents_read += len(digests)
        return super().bodies(digests)


def _measured(second: int) -> bytes:
    facets = {
        "dataQualityMetrics": {"rowCount": second, "columnMetrics": {"a": {"nullCount": second}}},
        "dataQualityAssertions": {"assertions": [{"assertion": "unique", "success": True, "actual": str(second)}]},
    }
    time = f"2026-05-22T14:23:{second:02d}Z"
    is_stream = {"jobType": {"processingType": "STREAMING"}}
    body = event(
        eventType="RUNNING",
        eventTime=time,
        job={"namespace": "etl", "name": "load", "facets": is_stream},
        inputs=[dataset("t1", dataQualityAssertions=facets["dataQualityAssertions"])],
        outputs=[dataset("t1", **facets)],
    )
    return json.dumps(body).encode()


@pytest.mark.parametrize(
    "question",
    [
        lambda known, column: quality_timeline(known, column, 1, 0),
        is_measured,
        lambda known, column: result_in_slices(newest_quality(known, column.dataset)),
        lambda known, column: result_in_slices(checks_of(known, column.dataset)),
    ],
)
def test_others_have_their_turn_between_any_two_of_the_many_reports_of_a_streams_quality(
    tmp_path: Path, question: Callable[[Knowledge, ColumnId], Coroutine[object, object, object]]
) -> None:
    read_at_each_turn: list[int] = []

    async def ask(store: _CountingStore, known: Knowledge) -> None:
        asked = asyncio.create_task(question(known, ColumnId(DatasetId("lake", "t1"), "unmeasured")))
        while not asked.done():
            read_at_each_turn.append(store.contents_read)
            await asyncio.sleep(0)

    with closing(_CountingStore(tmp_path / "headwater.db")) as store:
        service = KnowledgeWithPasts(store)
        service.learn([_measured(second) for second in range(60)])
        with turns_after_each_step():
            asyncio.run(ask(store, service.knowledge))

    read = [after - before for before, after in pairwise([*read_at_each_turn, store.contents_read])]
    assert sum(read) >= 60
    assert max(read) <= 64  # 32 together, for two purposes


def test_a_past_state_without_a_late_event_has_each_job_that_uses_its_datasets() -> None:
    log = [_written("run", 1, 16, ("unreported", 4)), _written("run", 0, 48, ("reported", 1))]
    late = _written("run", 2, 13, ("reported", 1))  # of a run that reported only later, until now

    async def ask_all() -> None:
        with new_store() as store:
            service = KnowledgeWithPasts(store)
            service.learn(log)
            past = await service.pasts.past(AsOf(BEGIN_US + 47_000_000))
            service.learn([late])
            await _ask_while_learning(service, past, [])
            service.pasts.stop()

    asyncio.run(ask_all())
