"""Streams that have fallen silent: nothing was heard for longer than their own emission pattern lets pass."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from headwater.model.facets.job import JobTypeFacet
from headwater.model.names import JobId
from headwater.service import shapes_evidence as shapes
from headwater.service.activity import KnownRun
from headwater.service.answers import iso
from headwater.service.knowledge import Knowledge
from headwater.service.views.names import name_of

_NEWEST: Final = 100
"""Of a job's runs those that may still go on; older ones were followed by so many others."""
_LONGEST_S: Final = 10**9
"""A window beyond thirty years is no promise to speak again."""


def window_s(knowledge: Knowledge, job: JobId) -> int | None:
    """The seconds that a job lets pass between two events at most; None for one that makes no such promise.

    Source: OpenLineage JobTypeJobFacet 2-0-4 `emissionPattern`
    """
    digest = knowledge.graph.job_digest(job, JobTypeFacet.key) if job in knowledge.graph.jobs else None
    kind = knowledge.facets.read(JobTypeFacet, digest)
    pattern = None if kind is None else kind.emission_pattern
    if pattern is None or pattern.event_trigger != "PERIODIC" or pattern.window_duration is None:
        return None
    return pattern.window_duration if 0 < pattern.window_duration <= _LONGEST_S else None


def stale_after_us(knowledge: Knowledge, run: KnownRun) -> int | None:
    """When a run that goes on counts as stale, if nothing more is heard of it; None for all other runs."""
    if run.state != "RUNNING" or not run.has_events:
        return None
    window = window_s(knowledge, run.job)
    return None if window is None else run.seen.last_us + window * 1_000_000


def silent_streams(knowledge: Knowledge, now_us: int, limit: int, offset: int) -> shapes.SilentStreams:
    """A page of the streams that are stale at that time, the longest silent first."""
    silent = sorted(_silent(knowledge, now_us), key=lambda each: (each["staleSince"], each["run"]))
    page = list(islice(silent, offset, offset + limit))
    return shapes.SilentStreams(silentStreams=page, totalCount=len(silent))


def _silent(knowledge: Knowledge, now_us: int) -> Iterator[shapes.SilentStream]:
    for job in knowledge.graph.jobs:
        window = window_s(knowledge, job)
        if window is None:
            continue
        for run in map(knowledge.run, knowledge.activity(job).runs[:_NEWEST] if knowledge.is_job(job) else ()):
            stale_us = stale_after_us(knowledge, run)
            if stale_us is not None and stale_us < now_us:
                yield shapes.SilentStream(
                    job=name_of(job),
                    run=run.run_id,
                    lastHeard=iso(run.seen.last_us),
                    windowSeconds=window,
                    staleSince=iso(stale_us),
                )
