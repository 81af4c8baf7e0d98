"""Other code, parameters, engine, inputs or outputs than in the job's earlier runs."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from headwater.graph.causes.finding import Finding, Kind
from headwater.graph.causes.further_back import OlderRuns
from headwater.graph.causes.history import History
from headwater.graph.causes.record import EventRef, Record
from headwater.graph.causes.since import COMPARED, Reading, last_turn
from headwater.graph.causes.visit import Visit
from headwater.model.facets.job import SourceCodeFacet, SourceCodeLocationFacet, SqlFacet
from headwater.model.facets.run import ExecutionParametersFacet, ProcessingEngineFacet

_ONE_BEFORE: Final = 0.8
_SOMETIMES: Final = 0.5
_QUOTED: Final = re.compile(r"""('[^']*'|"[^"]*"|`[^`]*`)""")


class Trait(NamedTuple):
    """Something about how a run worked.

    `shown`: its value may be displayed; others may be private.
    """

    kind: Kind
    weight: float
    value: str
    event: EventRef | None
    shown: bool = False
    names: str = ""
    """The value with bare names."""


def code_changes(visit: Visit, history: History) -> Iterator[Finding]:
    """Traits that differ from the earlier runs; traits that differ in every run count for nothing."""
    older = OlderRuns(visit, history)
    oldest = older.oldest()
    compared = visit.earlier if oldest is None else (*visit.earlier, oldest)
    if all(_are_alike(visit.record, each) for each in compared):
        return
    known: dict[str, Mapping[str, Trait]] = {}
    for name, trait in traits_of(visit.record).items():
        reading = Reading(partial(_trait, known, name), _have_one_value, _have_one_value)
        turn = last_turn(visit, older, reading, trait)
        if turn is None:
            continue
        steadiness = steadiness_of([each.value for each in turn.former[:COMPARED]])
        if steadiness == 0:
            continue
        if sum(_trait(known, name, each) is not None for each in visit.earlier) == 1 < len(visit.earlier):
            steadiness *= _SOMETIMES  # it is reported only since the run before: perhaps it changes every time
        yield Finding(
            trait.kind,
            trait.weight * steadiness * visit.share_of(turn.run, is_far=turn.is_far),
            f"{visit.called(visit.run.job)}: {_words(name, turn.value_before, turn.value)}",
            visit.run.job,
            visit,
            turn.run.summary.started_us,
            tuple(dict.fromkeys((turn.run.summary.run_id, turn.before.summary.run_id, visit.run.run_id))),
            tuple(event for event in (turn.value.event, turn.value_before.event) if event is not None),
            was_before=not visit.is_news(turn.run),
        )


def _trait(known: dict[str, Mapping[str, Trait]], name: str, record: Record) -> Trait | None:
    """A run's trait; `known` has the traits of the runs that were read before."""
    run_id = record.summary.run_id
    if run_id not in known:
        known[run_id] = traits_of(record)
    return known[run_id].get(name)


def _have_one_value(one: Trait, other: Trait) -> bool:
    return one.value == other.value


def _are_alike(one: Record, other: Record) -> bool:
    """Whether two runs have exactly the same traits, the common case: then nothing is new."""
    ends = ((each.state, each.reads, each.writes) for each in (one.summary, other.summary))
    is_all_there = one.facets.keys() <= other.facets.keys()
    return (
        is_all_there
        and len({*ends}) == 1
        and all(facet.view is other.facets[kind].view for kind, facet in one.facets.items())
    )


def steadiness_of(values: Sequence[Hashable]) -> float:
    """The significance of a new value, by the values before: 0 if every run had another."""
    distinct = len(set(values))
    if len(values) == 1:
        return _ONE_BEFORE
    if distinct == len(values):
        return 0
    return 1 if distinct == 1 else _SOMETIMES


def _words(name: str, former: Trait, now: Trait) -> str:
    if not now.shown:
        return f"{name} changed"
    if former.names != now.names:
        return f"{name} changed from {former.names} to {now.names}"
    return f"{name} changed from {former.value} to {now.value}"


def traits_of(record: Record) -> Mapping[str, Trait]:
    """The traits that the run reported, by a display name."""
    return dict(sorted((*_code(record), *_engine(record), *_parameters(record), *_ends(record))))


def _code(record: Record) -> Iterator[tuple[str, Trait]]:
    if sql := record.view(SqlFacet):
        yield "the SQL text", Trait("code-change", 0.6, _plain(sql[0].query), sql[1])
    if source := record.view(SourceCodeFacet):
        yield "the source code", Trait("code-change", 0.6, source[0].source_code, source[1])
    if location := record.view(SourceCodeLocationFacet):
        place, event = location
        parts = {"version": place.version, "tag": place.tag, "branch": place.branch, "URL": place.url}
        for part, value in parts.items():
            if value is not None:
                yield f"the {part} of the code", Trait("code-change", 0.6, value, event, shown=part != "URL")


def _plain(query: str) -> str:
    """The text without what another formatter changes: white space, case outside of quotes, a semicolon at the end.

    >>> _plain("SELECT a,  'B c' FROM T;")
    "select a, 'B c' from t"
    """
    parts = _QUOTED.split(" ".join(query.split()).removesuffix(";"))
    return "".join(part if place % 2 else part.lower() for place, part in enumerate(parts))


def _engine(record: Record) -> Iterator[tuple[str, Trait]]:
    if engine := record.view(ProcessingEngineFacet):
        facet, event = engine
        if name := " ".join(filter(None, (facet.name, facet.version))):
            yield "the engine", Trait("engine-change", 0.4, name, event, shown=True)
        if facet.openlineage_adapter_version is not None:
            adapter = facet.openlineage_adapter_version
            yield "the engine's lineage agent", Trait("engine-change", 0.15, adapter, event, shown=True)


def _parameters(record: Record) -> Iterator[tuple[str, Trait]]:
    if parameters := record.view(ExecutionParametersFacet):
        for each in parameters[0].parameters or ():
            yield f"parameter {each.key}", Trait("parameter-change", 0.5, each.value or "", parameters[1])


def _ends(record: Record) -> Iterator[tuple[str, Trait]]:
    """Its inputs and outputs; only of completed runs, since others may not have reported them yet."""
    run = record.summary
    if run.state == "COMPLETED":
        for what, names in (("inputs", run.reads), ("outputs", run.writes)):
            value = ", ".join(f"{name.namespace}:{name.name}" for name in sorted(names)) or "nothing"
            bare = ", ".join(name.name for name in sorted(names)) or "nothing"
            yield f"its {what}", Trait("code-change", 0.6, value, record.last, shown=True, names=bare)
