"""The type of a job, as Marquez names it: BATCH, STREAM or SERVICE."""

from collections.abc import Mapping
from typing import Final

from headwater.model.facets.job import JobTypeFacet
from headwater.model.facets.own import DeclaredFacet
from headwater.model.names import JobId
from headwater.service.knowledge.knowledge import Knowledge

STREAM: Final = "STREAM"
_SERVICE: Final = "SERVICE"
_BATCH: Final = "BATCH"
_TYPES: Final[Mapping[str, str]] = {"STREAMING": STREAM, "SERVICE": _SERVICE}
"""From OpenLineage's processing type to Marquez's; anything else is BATCH."""


def job_type(knowledge: Knowledge, job: JobId) -> str:
    """By the newest `jobType` facet; without one, by the type the job was put with over the API; else BATCH."""
    kind = knowledge.facets.read(JobTypeFacet, knowledge.graph.job_digest(job, JobTypeFacet.key))
    if kind is not None and kind.processing_type is not None:
        return _TYPES.get(kind.processing_type, _BATCH)
    declared = knowledge.facets.read(DeclaredFacet, knowledge.graph.job_digest(job, DeclaredFacet.key))
    return (declared and declared.type) or _BATCH


def is_stream(knowledge: Knowledge, job: JobId) -> bool:
    """Whether the job is a stream or a service, neither of which ends by itself."""
    return job_type(knowledge, job) in (STREAM, _SERVICE)
