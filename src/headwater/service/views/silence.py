"""Streams that have fallen silent: no event for longer than their own emission pattern allows."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from typing import Final

from headwater.model.facets.job import JobTypeFacet
from headwater.model.names import JobId
from headwater.service.background import collect_in_slices
from headwater.service.http.answers import iso
from headwater.service.knowledge.activity import KnownRun
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import evidence as shapes
from headwater.service.views.names import name_of

_NEWEST: Final = 100
"""The newest runs of a job, which may still be running; older ones are taken as superseded."""

_Windows = Callable[[bytes | None], int | None]
"""A job's allowed silence, by the digest of its facet."""


def window_s(knowledge: Knowledge, job: JobId) -> int | None:
    """As in `JobTypeFacet`."""
    return _window_s_of(knowledge, knowledge.graph.job_digest(job, JobTypeFacet.key))


def _window_s_of(knowledge: Knowledge, digest: bytes | None) -> int | None:
    """The seconds that a job allows between two events, by the digest of its facet; None: no promise."""
    kind = knowledge.facets.read(JobTypeFacet, digest)
    return None if kind is None else kind.window_s


def stale_after_us(knowledge: Knowledge, run: KnownRun) -> int | None:
    """When a run still going on becomes stale without further events; None for all other runs."""
    if run.state != "RUNNING" or not run.has_events:
        return None
    window = window_s(knowledge, run.job)
    return None if window is None else run.seen.last_us + window * 1_000_000


async def silent_streams(knowledge: Knowledge, now_us: int, limit: int, offset: int) -> shapes.SilentStreams:
    """A page of the streams that are stale at that time, longest silent first.

    Examines all jobs, in time slices.
    """
    windows = cache(partial(_window_s_of, knowledge))  # thousands of jobs have a few facets between them
    found = await collect_in_slices(_silent(knowledge, job, windows, now_us) for job in [*knowledge.job_names()])
    silent = sorted(chain.from_iterable(found), key=lambda each: (each["staleSince"], each["run"]))
    page = silent[offset : offset + limit]
    return shapes.SilentStreams(silentStreams=page, totalCount=len(silent))


def _silent(knowledge: Knowledge, job: JobId, windows: _Windows, now_us: int) -> Sequence[shapes.SilentStream]:
    """The silent runs of the job."""
    window = windows(knowledge.graph.job_digest(job, JobTypeFacet.key))
    if window is None or not knowledge.is_job(job):
        return ()
    runs = map(knowledge.run, knowledge.activity(job).runs[:_NEWEST])
    since = [(run, stale_us) for run in runs if (stale_us := stale_after_us(knowledge, run)) is not None]
    return [
        shapes.SilentStream(
            job=name_of(job),
            run=run.run_id,
            lastHeard=iso(run.seen.last_us),
            windowSeconds=window,
            staleSince=iso(stale_us),
        )
        for run, stale_us in since
        if stale_us < now_us
    ]
