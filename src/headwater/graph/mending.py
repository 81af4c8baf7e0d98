"""Corrections of wrong reports: each rule is a pure function that returns what it corrected, and why.

    rule                     producers                                    evidence
    completed-after-failing  Spark's agent reports that a run failed      an error facet of the run, and both reports
                             and then that it completed
    started-after-its-end    Flink's listener reports a failure before    the events' times, and their order in the log
                             the start; clocks differ
    namespace-found          Flink names an Iceberg table without a       another event that gives the location for the
                             namespace                                    same table of a catalog of the same name
    one-table-two-names      Spark guesses a Glue table's folder before   the same table of the same catalog
                             it is known
    metadata-columns         Spark's agent lists `_file` among the        the table is reported as one of Iceberg,
                             columns of a table whose rows it rewrites    which reserves the name
    columns-of-folders       Spark's agent reports files as the source    the event lists their folder as its input,
                             of columns                                   not the files
    counts-as-text           `"rowCount": "12"` instead of a number       the text is a whole number in decimal

`docs/mending.md` is the same list for users.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from headwater.graph.identity import Identities, Link
from headwater.graph.records import Run
from headwater.model.facts import ERRORS, TERMINAL_STATES
from headwater.model.names import DatasetId
from headwater.model.words import so_many

Rule = Literal[
    "completed-after-failing",
    "started-after-its-end",
    "namespace-found",
    "one-table-two-names",
    "metadata-columns",
    "columns-of-folders",
    "counts-as-text",
]

IsDeleted = Callable[[bytes], bool]
"""Whether the facet with this digest is a tombstone (`_deleted`)."""

_CLAIMS: Final = frozenset({"catalog name", "symlinks", "rename"})


class Mended(NamedTuple):
    """One correction: the rule, what is now taken as true, and the evidence for it."""

    rule: Rule
    what: str
    evidence: tuple[str, ...]


class End(NamedTuple):
    """The effective state of a run, by its event type, since when, and the correction that led to it, if any."""

    event_type: str
    time_us: int
    mended: Mended | None = None


class StateChange(NamedTuple):
    """An event of a run in the log: its type, its time, and its digest in hexadecimal."""

    event_type: str
    time_us: int
    digest: str


def end_of(run: Run, is_deleted: IsDeleted) -> End | None:
    """The state of a run with events: its strongest event's, unless its producer took a failure back.

    Spark's agent sends FAIL when the Spark job fails, and COMPLETE when the query around it ends, which is no success.
    The run counts as failed only if it carries an error.
    """
    if run.times is None:
        return None
    _, stamp, event_type = run.times.state
    extras = run.extras
    if event_type != "COMPLETE" or extras is None or extras.failed is None:
        return End(event_type, stamp.time_us)
    errors = sorted(name for name in ERRORS & extras.facets.keys() if not is_deleted(extras.facets[name].content))
    if not errors:
        return End(event_type, stamp.time_us)
    mended = Mended(
        "completed-after-failing",
        "the run failed: its producer reported the failure and its error, and only then completion",
        tuple(f"run facet {name}" for name in errors),
    )
    return End("FAIL", extras.failed.last_us, mended)


def started_late(end: End, started_us: int | None, events: Sequence[StateChange]) -> Mended | None:
    """Whether a run reports its start after its end: by the events' times, or by their order in the log.

    `started_us` is when the run first reported START or RUNNING; `events` are its state changes, in the log's order.
    """
    first_end = next((at for at, event in enumerate(events) if event.event_type in TERMINAL_STATES), len(events))
    late = [
        event
        for at, event in enumerate(events)
        if event.event_type == "START" and (at > first_end or event.time_us > end.time_us)
    ]
    is_moved = started_us is not None and started_us > end.time_us
    if not late and not is_moved:
        return None
    had_begun = f"had started when it ended ({end.event_type})" if is_moved else f"has ended ({end.event_type})"
    evidence = [event for event in events if (event.event_type, event.time_us) == end[:2]] + late
    return Mended(
        "started-after-its-end",
        f"the run {had_begun}, though its start was reported later",
        tuple(dict.fromkeys(f"event sha256:{event.digest}" for event in evidence)),
    )


def placed(name: DatasetId, identities: Identities) -> Mended | None:
    """The name that an incomplete name was resolved to, and the evidence; None if it was not."""
    members = [member for member in identities.members(name) if member.is_complete]
    if name.is_complete or not members:
        return None
    links = [link for link in identities.links(name) if name in (link.name, link.other) and link.reason in _CLAIMS]
    found = min(link.other if link.name == name else link.name for link in links)
    return Mended(
        "namespace-found",
        f"{name.name}, reported without a namespace, is {found.name} in {found.namespace}",
        tuple(map(_worded, links)),
    )


def mended_names(name: DatasetId, identities: Identities) -> Iterator[Mended]:
    """The corrections of a dataset's names."""
    for member in sorted(identities.members(name)):
        if (found := placed(member, identities)) is not None:
            yield found
    tables = [link for link in identities.links(name) if link.reason == "catalog"]
    if tables:
        names = sorted({end for link in tables for end in (link.name, link.other)})
        yield Mended(
            "one-table-two-names",
            " and ".join(f"{each.name} in {each.namespace}" for each in names) + " are the same table",
            tuple(map(_worded, tables)),
        )


def listed_metadata(columns: Sequence[str]) -> Mended:
    """That these columns of an Iceberg table are metadata columns, not the table's."""
    return Mended(
        "metadata-columns",
        f"Iceberg adds {', '.join(columns)} to rows on read: not part of the table's schema",
        ("dataset facet schema, as reported for an Iceberg table",),
    )


def read_as_folder(folder: DatasetId, named: int) -> Mended:
    """That columns come from a folder of which `named` files or partitions were listed as sources."""
    return Mended(
        "columns-of-folders",
        f"columns reported from {so_many(named, 'name')} in {folder.name} in {folder.namespace} are from that folder",
        ("dataset facet columnLineage, and the inputs of the same event",),
    )


def counted_in_text(facet: str, name: DatasetId, counts: Sequence[str]) -> Mended:
    """That these numbers in a facet of the dataset were written as text."""
    return Mended(
        "counts-as-text",
        f"{', '.join(counts)} in {facet} of {name.name} in {name.namespace}, reported as text, count as numbers",
        (f"dataset facet {facet}, as reported",),
    )


def _worded(link: Link) -> str:
    one, other = (f"{end.name} in {end.namespace}" if end.namespace else end.name for end in (link.name, link.other))
    return f"{link.reason}: {one}, {other}"
