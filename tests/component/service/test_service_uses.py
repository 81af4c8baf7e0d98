"""What later runs report of a use is found by looking at few of them, with the same result as looking at each."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.graph.impact.uses import ReportedUse, Since, Uses
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.job_type import is_stream
from headwater.service.knowledge.knowledge import Knowledge
from tests.component.service.test_service_past_counts import BEGIN_US, KnowledgeWithPasts, new_store
from tests.support.app import Body, dataset, event, facet
from tests.support.flights import columns, source
from tests.support.logs import logs
from tests.support.slow_uses import SlowUse
from tests.support.steps import outcome

_INPUTS = ("in", "in2")
_OUTPUTS = ("out", "out2")
_Use = tuple[DatasetId, DatasetId | None, tuple[JobId, ...], JobId | None, bool]


def _event_of(kind: str, run: int, second: int, ends: tuple[list[str], list[str]], how: tuple[str, bool]) -> bytes:
    """An event of a run with these inputs and outputs, and with column lineage in one of several forms."""
    of_columns, is_stream_job = how
    inputs, outputs = ends
    lineage = {
        "x of the first": columns([], x=[source("in", "x", "DIRECT", "IDENTITY")]),
        "id of the first": columns([], id=[source("in", "id", "DIRECT", "IDENTITY")]),
        "x of the second": columns([], x=[source("in2", "x", "DIRECT", "IDENTITY")]),
    }
    facets: Body = {"columnLineage": lineage[of_columns]} if of_columns in lineage else {}
    if of_columns == "as lineage":
        column = {"namespace": "lake", "name": "in", "type": "DATASET", "field": "x"}
        facets = {"lineage": facet(fields={"x": {"inputs": [column]}})}
    job_facets = {"jobType": facet(processingType="STREAMING", integration="FLINK")} if is_stream_job else {}
    body = event(
        eventType=kind,
        eventTime=f"2026-05-22T14:23:{second:02d}Z",
        run={"runId": f"0198f7d0-0000-7000-8000-{run:012d}"},
        job={"namespace": "etl", "name": f"job{run % 3 // 2}", "facets": job_facets},
        inputs=[*map(dataset, inputs)],
        outputs=[dataset(name, **facets) for name in outputs],
    )
    return json.dumps(body).encode()


_variants = ["x of the first", "x of the first", "id of the first", "x of the second", "unreported", "as lineage"]
_runs = st.lists(
    st.builds(
        _event_of,
        st.sampled_from(["START", "RUNNING", "COMPLETE", "COMPLETE", "FAIL"]),
        st.integers(0, 8),
        st.integers(0, 59),
        st.tuples(
            st.lists(st.sampled_from(_INPUTS), max_size=2, unique=True),
            st.lists(st.sampled_from(_OUTPUTS), max_size=2, unique=True),
        ),
        st.tuples(st.sampled_from(_variants), st.sampled_from([False, False, False, True])),
    ),
    max_size=24,
)
"""Logs of two jobs with few inputs and outputs, in many combinations."""


def _uses(knowledge: Knowledge) -> Iterator[_Use]:
    """Every possible use: of what, for what, through which jobs, for which of them, and whether as a whole."""
    graph = knowledge.graph
    names = sorted(graph.shown_datasets())
    for origin, target in product(names, [*names, None]):
        jobs = sorted(graph.readers(origin) if target is None else graph.readers(origin) & graph.writers(target))
        for job, is_whole in product([None, *jobs], [True, False]):
            yield origin, target, tuple(jobs), job, is_whole


def _compared(knowledge: Knowledge) -> tuple[list[Since | None], list[Since | None]]:
    """What is found, and what looking at each run finds."""
    graph, streams = knowledge.graph, partial(is_stream, knowledge)
    uses = Uses(graph, knowledge.run_groups(), streams)
    reported: list[Since | None] = []
    expected: list[Since | None] = []
    for origin, target, jobs, job, is_whole in _uses(knowledge):
        evidence = () if target is None else tuple((member, key) for member, key, _ in graph.evidence_into(target))
        for keys in dict.fromkeys([(), evidence, *((key,) for key in evidence)]):
            using = ReportedUse(uses, origin, target, jobs, keys)
            reported.append(outcome(using.since(job, is_whole=is_whole)))
            expected.append(SlowUse(graph, streams, origin, target).since(jobs, keys, job, is_whole=is_whole))
    return reported, expected


@given(_runs | logs, _runs, st.integers(0, 59), st.booleans())
@settings(deadline=None, max_examples=40)
def test_what_later_runs_report_is_the_same_as_by_looking_at_each_of_them(
    log: list[bytes], later: Sequence[bytes], second: int, is_read_often: bool
) -> None:
    async def compared() -> None:
        with new_store() as store:
            service = KnowledgeWithPasts(store)
            service.learn(log)
            for learned in range(len(later) + 1):
                if is_read_often or learned in (0, len(later)):
                    past = await service.known(BEGIN_US + second * 1_000_000)
                    for knowledge in (service.knowledge, past):
                        found, expected = _compared(knowledge)
                        assert found == expected
                service.learn(later[learned : learned + 1])
            service.pasts.stop()

    asyncio.run(compared())
