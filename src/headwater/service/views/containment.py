"""Parent and child jobs."""

from collections.abc import Iterable
from typing import Final

from headwater.model.names import JobId
from headwater.service.background import collect_in_slices, groups
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import evidence as shapes
from headwater.service.views.names import name_of

_GROUP: Final = 500
"""Child runs examined per step; a task of an hourly DAG has thousands."""


async def containment(knowledge: Knowledge, job: JobId, limit: int, offset: int) -> shapes.Containment:
    """The parent of a job, and a page of its children, by name."""
    children = [*knowledge.graph.parts_of(job)]
    found = await collect_in_slices(_jobs_of(knowledge, group) for group in groups(children, _GROUP))
    parts = sorted(part for part in set[JobId]().union(*found) if _parent(knowledge, part) == job)
    parent = _parent(knowledge, job)
    return shapes.Containment(
        job=name_of(job),
        partOf=None if parent is None else name_of(parent),
        parts=[name_of(part) for part in parts[offset : offset + limit]],
        totalCount=len(parts),
    )


def _jobs_of(knowledge: Knowledge, run_ids: Iterable[str]) -> set[JobId]:
    """The known jobs of these runs."""
    runs = (knowledge.graph.runs.get(run_id) for run_id in run_ids)
    jobs = {run.of_job.job for run in runs if run is not None and run.of_job is not None}
    return {job for job in jobs if knowledge.is_job(job)}


def _parent(knowledge: Knowledge, job: JobId) -> JobId | None:
    """The parent named by the newest run that names one; a job that names itself has none."""
    parent = knowledge.parent_of(job)
    return None if parent == job else parent
