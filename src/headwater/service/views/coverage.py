"""The gaps that are known: in numbers by namespace, and one by one."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from typing import Final, NamedTuple, get_args

from headwater.graph.coverage import Expected, Gap, GapKind, Looking, Step, gaps
from headwater.service import shapes_coverage as shapes
from headwater.service.ahead import in_turns
from headwater.service.answers import iso
from headwater.service.history import KnownHistory
from headwater.service.knowledge import Knowledge
from headwater.service.views.nodes import counted
from headwater.store.reader import Reader

_KINDS: Final[tuple[GapKind, ...]] = get_args(GapKind)


class Asked(NamedTuple):
    """Which gaps to show, and when silence is measured, in microseconds since 1970; None: at the newest event."""

    namespace: str | None = None
    kind: GapKind | None = None
    at_us: int | None = None
    limit: int = 100
    offset: int = 0


class _Known(NamedTuple):
    """What there is, by namespace."""

    jobs: Counter[str]
    runs: Counter[str]
    datasets: Counter[str]
    gaps: Counter[tuple[str, GapKind]]
    verdicts: Counter[tuple[str, str]]
    """By the namespace of the job, empty for events without a run, and verdict."""


async def coverage(
    knowledge: Knowledge, asked: Asked, another_reader: Callable[[], Reader] | None = None
) -> shapes.Coverage:
    """The gaps of one namespace or of all, and what there is beside them.

    All runs, jobs and datasets are looked at, in slices, between which others have their turn; and the log, where there
    is another reader, in another thread. The reader that all share would, if it read on in slices, show to everybody
    what stood there when it began.
    """
    log = _read(knowledge.store) if another_reader is None else await asyncio.to_thread(_read_apart, another_reader)
    at_us = (knowledge.store.newest_us() or 0) if asked.at_us is None else asked.at_us
    found = [
        gap for gap in await in_turns(_gaps(knowledge, log, at_us)) if gap and asked.namespace in (None, gap.namespace)
    ]
    shown = sorted((gap for gap in found if asked.kind in (None, gap.kind)), key=_order)
    signed = [told for told in await in_turns(_signed(knowledge, log)) if asked.namespace in (None, told.namespace)]
    known = _known(knowledge, found, signed, Counter(filter(None, await in_turns(_namespaces_of_runs(knowledge)))))
    nodes, troubles = counted(knowledge, at_us)
    names = _namespaces(known) if asked.namespace is None else {asked.namespace}
    return shapes.Coverage(
        at=iso(at_us),
        namespace=asked.namespace,
        total=_covered(known, names | {""}),
        namespaces=[shapes.CoveredNamespace(namespace=name, **_covered(known, {name})) for name in sorted(names)],
        signers=_signers(signed),
        nodes=shapes.NodeCounts(nodes=nodes, troubles=troubles),
        gaps=[_gap(gap) for gap in shown[asked.offset : asked.offset + asked.limit]],
        totalCount=len(shown),
    )


class _Log(NamedTuple):
    """What the log tells of all runs."""

    started: set[str]
    verdicts: list[tuple[str | None, str, str | None, int]]


def _read(reader: Reader) -> _Log:
    return _Log(set(reader.runs_that_told("START")), list(reader.verdicts()))


def _read_apart(another_reader: Callable[[], Reader]) -> _Log:
    with closing(another_reader()) as reader:
        return _read(reader)


def _gaps(knowledge: Knowledge, log: _Log, at_us: int) -> Iterator[Step]:
    history = KnownHistory(knowledge)
    looking = Looking(
        started=log.started,
        expected=lambda job: Expected(history.is_stream(job), history.silence_us(job)),
        content=knowledge.store.content,
        now_us=at_us,
    )
    return gaps(knowledge.graph, looking)


def _order(gap: Gap) -> tuple[object, ...]:
    return (_KINDS.index(gap.kind), -gap.at_us, gap.node_id, gap.words, gap.related)


class _Signed(NamedTuple):
    namespace: str
    verdict: str
    key_id: str | None
    events: int


def _signed(knowledge: Knowledge, log: _Log) -> Iterator[_Signed]:
    """How many events of a namespace's runs that name a key came out so; events without a run are in none."""
    for run_id, verdict, key_id, events in log.verdicts:
        run = None if run_id is None else knowledge.graph.runs.get(run_id)
        namespace = run.of_job.job.namespace if run is not None and run.of_job is not None else ""
        yield _Signed(namespace, verdict, key_id, events)


def _namespaces_of_runs(knowledge: Knowledge) -> Iterator[str | None]:
    for run in [*knowledge.graph.runs.values()]:
        yield run.of_job.job.namespace if run.times is not None and run.of_job is not None else None


def _known(knowledge: Knowledge, found: Iterable[Gap], signed: Iterable[_Signed], runs: Counter[str]) -> _Known:
    jobs, datasets = knowledge.job_tallies, knowledge.dataset_tallies
    verdicts: Counter[tuple[str, str]] = Counter()
    for told in signed:
        verdicts[told.namespace, told.verdict] += told.events
    return _Known(
        jobs=+Counter({name: len(jobs.newest_first(name)) for name in jobs.namespaces()}),
        runs=runs,
        datasets=+Counter({name: len(datasets.by_name(name)) for name in datasets.namespaces()}),
        gaps=Counter((gap.namespace, gap.kind) for gap in found),
        verdicts=verdicts,
    )


def _namespaces(known: _Known) -> set[str]:
    of_gaps = {namespace for namespace, _ in known.gaps}
    return {*known.jobs, *known.runs, *known.datasets, *of_gaps} - {""}


def _covered(known: _Known, names: Collection[str]) -> shapes.Covered:
    verdicts: Counter[str] = Counter()
    kinds: Counter[GapKind] = Counter()
    for (namespace, verdict), events in known.verdicts.items():
        verdicts[verdict] += events if namespace in names else 0
    for (namespace, kind), count in known.gaps.items():
        kinds[kind] += count if namespace in names else 0
    return shapes.Covered(
        jobs=sum(known.jobs[name] for name in names),
        runs=sum(known.runs[name] for name in names),
        datasets=sum(known.datasets[name] for name in names),
        gaps=shapes.GapCounts(
            quarantinedNames=kinds["quarantined-name"],
            runsWithoutStart=kinds["run-without-start"],
            runsWithoutEnd=kinds["run-without-end"],
            extractionErrors=kinds["extraction-error"],
            silentStreams=kinds["silent-stream"],
            edgesWithoutColumns=kinds["edge-without-columns"],
            datasetsWithoutSchema=kinds["dataset-without-schema"],
        ),
        signatures=_signatures(verdicts),
    )


def _signatures(verdicts: Counter[str]) -> shapes.VerdictCounts:
    events = verdicts.total()
    return shapes.VerdictCounts(
        events=events,
        verified=verdicts["ok"],
        unsigned=verdicts["unsigned"],
        unknownKey=verdicts["unknown-key"],
        tampered=verdicts["tampered"],
        malformed=verdicts["malformed"],
        verifiedShare=round(verdicts["ok"] / events, 4) if events else None,
    )


def _signers(signed: Iterable[_Signed]) -> list[shapes.Signer]:
    """By key, those without one last."""
    by_key: dict[str | None, Counter[str]] = defaultdict(Counter)
    for told in signed:
        by_key[told.key_id][told.verdict] += told.events
    keys = sorted(by_key, key=lambda key_id: (key_id is None, key_id or ""))
    return [shapes.Signer(keyId=key_id, signatures=_signatures(by_key[key_id])) for key_id in keys]


def _gap(gap: Gap) -> shapes.KnownGap:
    return shapes.KnownGap(
        kind=gap.kind,
        nodeId=gap.node_id or None,
        namespace=gap.namespace,
        words=gap.words,
        at=iso(gap.at_us),
        related=list(gap.related),
    )
