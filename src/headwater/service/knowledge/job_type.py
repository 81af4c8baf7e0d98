"""The type of a job: Marquez has three."""

from collections.abc import Mapping
from typing import Final

from headwater.model.facets.job import JobTypeFacet
from headwater.model.facets.own import DeclaredFacet
from headwater.model.names import JobId
from headwater.service.knowledge.knowledge import Knowledge

BATCH: Final = "BATCH"
STREAM: Final = "STREAM"
SERVICE: Final = "SERVICE"
_TYPES: Final[Mapping[str, str]] = {"STREAMING": STREAM, "SERVICE": SERVICE}
"""Marquez's words for what is no batch, by OpenLineage's."""


def job_type(knowledge: Knowledge, job: JobId) -> str:
    """In Marquez's words, by what events say, else by what the job was put with."""
    kind = knowledge.facets.read(JobTypeFacet, knowledge.graph.job_digest(job, JobTypeFacet.key))
    if kind is not None and kind.processing_type is not None:
        return _TYPES.get(kind.processing_type, BATCH)
    declared = knowledge.facets.read(DeclaredFacet, knowledge.graph.job_digest(job, DeclaredFacet.key))
    return (declared and declared.type) or BATCH
