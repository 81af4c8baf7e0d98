"""Run facets that any run of ours may have."""

import attrs
from openlineage.client.facet_v2 import RunFacet, error_message_run, extraction_error_run

from headwater.model.build import HeadwaterRunFacet
from headwater.model.producer import HEADWATER_FACETS
from headwater.observe.counters import Counters
from headwater.observe.failure import Failure


@attrs.define(kw_only=True)
class HeadwaterStreamFacet(RunFacet):
    """The run facet `headwater_stream`: the progress of a stream.

    `sources` has an object for each source of each streaming query, with `query`, `batchId`, `source`, `startOffset`,
    `endOffset` and `numInputRows` of the last micro-batch; for Kafka also `latestOffset`, and `lag` in records.
    """

    sources: list[dict[str, object]]

    @staticmethod
    def _get_schema() -> str:
        return f"{HEADWATER_FACETS}/headwater_stream.json"


def counters_facet(counters: Counters) -> HeadwaterRunFacet:
    """The counters as a run facet."""
    return HeadwaterRunFacet(
        recordsIn=counters.records_in,
        recordsOut=counters.records_out,
        bytesIn=counters.bytes_in,
        bytesOut=counters.bytes_out,
        errorCount=counters.error_count,
        durationMs=counters.duration_ms,
        stopReason=counters.stop_reason,
        stoppedBy=counters.stopped_by,
        stopNote=counters.stop_note,
    )


def failure_facet(failure: Failure) -> error_message_run.ErrorMessageRunFacet:
    """The failure as a run facet."""
    return error_message_run.ErrorMessageRunFacet(
        message=failure.message, programmingLanguage=failure.language, stackTrace=failure.stack_trace or None
    )


def gaps_facet(gaps: list[str]) -> dict[str, RunFacet]:
    """The run facet with one text for each thing that could not be determined; empty if there is none."""
    if not gaps:
        return {}
    errors = [extraction_error_run.Error(errorMessage=gap) for gap in gaps]
    return {
        "extractionError": extraction_error_run.ExtractionErrorRunFacet(
            totalTasks=len(gaps), failedTasks=len(gaps), errors=errors
        )
    }
