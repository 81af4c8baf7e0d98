"""The terminal events of a run whose worker died without sending one."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from openlineage.client.event_v2 import Run, RunState
from openlineage.client.facet_v2 import error_message_run

from headwater.agent.messages import Close
from headwater.agent.states import CRASHED
from headwater.model.build import HeadwaterRunFacet, run_event
from headwater.pipeline.reporting.job import job_of
from headwater.pipeline.spec import PipelineSpec

_MESSAGE: Final = "the execution ended without reporting an outcome: its process was killed, or the machine went down"
_COUNTERS: Final = ("recordsIn", "recordsOut", "bytesIn", "bytesOut", "errorCount")


def last_events(spec: PipelineSpec, lost: Close) -> list[bytes]:
    """FAIL at the time when the run was last seen, with its last known counters; START before it, if missing."""
    ended_at = max(lost.last_seen, lost.started_at)
    start = [] if lost.is_told else [_event(spec, lost, RunState.START, lost.started_at, {})]
    failure = error_message_run.ErrorMessageRunFacet(message=_MESSAGE, programmingLanguage="PYTHON")
    facets = {"headwater_run": _counted(lost.counters, ended_at - lost.started_at), "errorMessage": failure}
    return [*start, _event(spec, lost, RunState.FAIL, ended_at, facets)]


def _event(spec: PipelineSpec, lost: Close, state: RunState, at: datetime, facets: Mapping[str, Any]) -> bytes:
    return run_event(state, at, Run(runId=lost.run_id, facets=dict(facets)), job_of(spec))


def _counted(counters: Mapping[str, object], ran: timedelta) -> HeadwaterRunFacet:
    known: dict[str, Any] = {key: counters.get(key) for key in _COUNTERS}
    known["errorCount"] = (known["errorCount"] or 0) + 1
    return HeadwaterRunFacet(**known, durationMs=round(ran.total_seconds() * 1000), stopReason=CRASHED)
