"""The type of a job: Marquez has three."""

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
"""Marquez's words for what is no batch, by OpenLineage's."""


def job_type(knowledge: Knowledge, job: JobId) -> str:
    """In Marquez's words, by what was told last; where nobody told it so, by what the job was put with."""
    kind = knowledge.facets.read(JobTypeFacet, knowledge.graph.job_digest(job, JobTypeFacet.key))
    if kind is not None and kind.processing_type is not None:
        return _TYPES.get(kind.processing_type, _BATCH)
    declared = knowledge.facets.read(DeclaredFacet, knowledge.graph.job_digest(job, DeclaredFacet.key))
    return (declared and declared.type) or _BATCH


def is_stream(knowledge: Knowledge, job: JobId) -> bool:
    """Whether the job streams, or is a service: neither comes to an end by itself."""
    return job_type(knowledge, job) in (STREAM, _SERVICE)
