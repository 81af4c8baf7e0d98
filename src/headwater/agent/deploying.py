"""A pipeline's text, checked for this agent: as `headwater run` would, and against the region's endpoints."""

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
        pipeline: as it was deployed.
        allowed: the only endpoints it may name; None: any.
        environment: what `${NAME}` stands for; by default the process's.

    Raises:
        InvalidPipelineError: something in the text is wrong, or it names an endpoint that is not allowed; the message
            has a line for each problem, with its key.
    """
    known = os.environ if environment is None else environment
    found = check_source(pipeline.source.encode(), Path(pipeline.path), pipeline.settings, known)
    if found.spec is None:
        raise InvalidPipelineError("\n".join(problem.text(pipeline.path) for problem in found.problems))
    refused = [] if allowed is None else refusals(found.spec, allowed, known)
    if refused:
        raise InvalidPipelineError("\n".join(f"{pipeline.path}: {line}" for line in refused))
    return found.spec
