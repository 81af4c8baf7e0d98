"""Validates a pipeline's text for this agent: as `headwater run` does, and against the allowed endpoints."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater.agent.endpoints import Endpoint, refusals
from headwater.agent.messages import Pipeline
from headwater.errors import InvalidPipelineError
from headwater.pipeline.check import check_source
from headwater.pipeline.spec import PipelineSpec


def checked(
    pipeline: Pipeline, allowed: Sequence[Endpoint] | None = None, environment: Mapping[str, str] | None = None
) -> PipelineSpec:
    """The pipeline's spec.

    Args:
        pipeline: the pipeline as deployed.
        allowed: the only endpoints it may use; None: any.
        environment: the values of `${NAME}`; by default the process's environment.

    Raises:
        InvalidPipelineError: the text is invalid, or uses an endpoint that is not allowed; the message has a line for
            each problem, with its key.
    """
    known = os.environ if environment is None else environment
    found = check_source(pipeline.source.encode(), Path(pipeline.path), pipeline.settings, known)
    if found.spec is None:
        raise InvalidPipelineError("\n".join(problem.text(pipeline.path) for problem in found.problems))
    refused = [] if allowed is None else refusals(found.spec, allowed, known)
    if refused:
        raise InvalidPipelineError("\n".join(f"{pipeline.path}: {line}" for line in refused))
    return found.spec
