"""Facets of a pipeline's job and of its runs, from the pipeline file."""

from typing import Final

from openlineage.client.event_v2 import Job
from openlineage.client.facet_v2 import (
    JobFacet,
    RunFacet,
    documentation_job,
    job_type_job,
    ownership_job,
    processing_engine_run,
    sql_job,
    tags_job,
)

from headwater.model.build import HeadwaterPipelineFacet
from headwater.model.credentials import without_secrets
from headwater.model.producer import VERSION
from headwater.model.sql_secrets import sql_without_secrets
from headwater.pipeline.spec import PipelineSpec, SqlProcessor

_ENGINE: Final = "spark"


def job_of(spec: PipelineSpec) -> Job:
    """The pipeline as a job."""
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet(
            processingType="STREAMING" if spec.mode == "stream" else "BATCH",
            integration="HEADWATER",
            jobType="PIPELINE",
        )
    }
    queries = [step.does.query.strip() for step in spec.processors if isinstance(step.does, SqlProcessor)]
    if queries:
        facets["sql"] = sql_job.SQLJobFacet(query=sql_without_secrets(";\n".join(queries), _ENGINE), dialect=_ENGINE)
    if spec.description:
        facets["documentation"] = documentation_job.DocumentationJobFacet(description=without_secrets(spec.description))
    if spec.owners:
        facets["ownership"] = ownership_job.OwnershipJobFacet(
            owners=[ownership_job.Owner(name=owner) for owner in spec.owners]
        )
    if spec.tags:
        facets["tags"] = tags_job.TagsJobFacet(
            tags=[
                tags_job.TagsJobFacetFields(key=key, value=value, source="HEADWATER")
                for key, value in spec.tags.items()
            ]
        )
    return Job(namespace=spec.namespace, name=spec.name, facets=facets)


def pipeline_facets(spec: PipelineSpec, spark_version: str) -> dict[str, RunFacet]:
    """The run facets on the pipeline and the engine, the same in every event of a run."""
    return {
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
            version=spark_version, name=_ENGINE, openlineageAdapterVersion=VERSION
        ),
        "headwater_pipeline": HeadwaterPipelineFacet(
            name=spec.name,
            file=str(spec.source),
            schemaVersion=spec.schema_version,
            mode=spec.mode,
            engine=_ENGINE,
            engineVersion=spark_version,
        ),
    }
