"""A run's counters: the figures of the run facet `headwater_run`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """The counters of one run so far; None if Spark does not report a figure.

    Attributes:
        records_in: rows that the scans of the inputs returned. Rows that a scan skips by a pushed-down filter (files,
            row groups, a database's WHERE) do not count; a source scanned several times (a self join, several outputs)
            counts once, with its largest scan. In a stream, the rows of all micro-batches from streaming inputs.
        records_out: rows written, summed over the outputs; of a merge the rows inserted or updated.
        bytes_in: size of the files scanned; not for databases.
        bytes_out: size of the files written; not for databases and standard output.
        stopped_by: who stopped the run, if a person did.
        stop_note: the reason that this person gave.
    """

    records_in: int | None = 0
    records_out: int | None = 0
    bytes_in: int | None = 0
    bytes_out: int | None = 0
    error_count: int = 0
    duration_ms: int = 0
    stop_reason: str | None = None
    stopped_by: str | None = None
    stop_note: str | None = None
