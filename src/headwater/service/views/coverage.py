"""Known gaps: counts by namespace, and a list."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import NamedTuple

from headwater.graph.coverage import Expected, Gap, GapKind
from headwater.service.background import collect_in_slices
from headwater.service.http.answers import iso
from headwater.service.knowledge.gaps import KINDS
from headwater.service.knowledge.history import KnownHistory
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.verdicts import VerdictKey
from headwater.service.shapes import coverage as shapes
from headwater.service.views.log import read_log
from headwater.service.views.namespaces import check_namespace
from headwater.service.views.nodes import counted
from headwater.store.reader import AnotherReader


class CoverageQuery(NamedTuple):
    """Which gaps to list, and the time at which silence is measured, in microseconds since 1970."""

    at_us: int
    namespace: str | None = None
    kind: GapKind | None = None
    limit: int = 100
    offset: int = 0


class _Counts(NamedTuple):
    """The counts by namespace."""

    jobs: Mapping[str, int]
    runs: Mapping[str, int]
    datasets: Mapping[str, int]
    gaps: Mapping[str, Counter[GapKind]]
    verdicts: Mapping[str, Counter[str]]
    """By the namespace of the job, empty for events without a run."""

    @property
    def namespaces(self) -> set[str]:
        """All namespaces in use."""
        return {*self.jobs, *self.runs, *self.datasets, *self.gaps} - {""}


async def coverage(
    knowledge: Knowledge, query: CoverageQuery, another_reader: AnotherReader | None = None
) -> shapes.Coverage:
    """The gaps of one namespace or of all, and the numbers of jobs, runs, datasets, nodes and signatures.

    What changed since the last answer is examined in time slices; the log is read in another thread, if there is
    another reader.

    Raises:
        NotFoundError: there is no such namespace.
    """
    await _read_on(knowledge, another_reader)
    of_nodes = await counted(knowledge, query.at_us)
    with closing(KnownHistory(knowledge)) as history:
        silences = knowledge.gaps.silent(
            query.at_us, lambda job: Expected(history.is_stream(job), history.silence_us(job))
        )
        silent = sorted(filter(None, await collect_in_slices(silences)), key=_order)
    await collect_in_slices(knowledge.gaps.catch_up())
    verdict_counts = [count for count in knowledge.verdicts.counts() if query.namespace in (None, count[0].namespace)]
    counts = _counted(knowledge, silent, verdict_counts, query.namespace)
    if query.namespace not in counts.namespaces:  # which include those of quarantined names only
        await check_namespace(query.namespace, knowledge)
    names = sorted(counts.namespaces if query.namespace is None else {query.namespace})
    kinds = KINDS if query.kind is None else (query.kind,)
    return shapes.Coverage(
        at=iso(query.at_us),
        namespace=query.namespace,
        total=_covered(counts, [*names, ""]),
        namespaces=[shapes.CoveredNamespace(namespace=name, **_covered(counts, [name])) for name in names],
        signers=_signers(verdict_counts),
        nodes=shapes.NodeCounts(nodes=of_nodes.nodes, unproved=of_nodes.unproved, troubles=of_nodes.troubles),
        gaps=[_gap(gap) for gap in _page(knowledge, query, silent, kinds)],
        totalCount=sum(of_kind[kind] for of_kind in counts.gaps.values() for kind in kinds),
    )


def look_ahead(knowledge: Knowledge, another_reader: AnotherReader) -> Iterator[Awaitable[None] | None]:
    """Do the work that the first request would wait for, some with each step; reads the log in another thread."""
    if knowledge.gaps.wants_starts or not knowledge.verdicts.read:
        yield read_log(knowledge, another_reader)
    yield from knowledge.gaps.catch_up()
    yield from knowledge.verdicts.place()
    yield from knowledge.catch_up()
    yield from knowledge.gaps.sort()
    for name in [*knowledge.job_tallies.namespaces()]:
        knowledge.job_tallies.newest_first(name)
        yield None
    for name in [*knowledge.dataset_tallies.namespaces()]:
        knowledge.dataset_tallies.by_name(name)
        yield None


async def _read_on(knowledge: Knowledge, another_reader: AnotherReader | None) -> None:
    """Read the new part of the log, and examine what was touched."""
    await read_log(knowledge, another_reader)
    await collect_in_slices(chain(knowledge.verdicts.place(), knowledge.gaps.catch_up()))


def _order(gap: Gap) -> tuple[object, ...]:
    return -gap.at_us, gap.node_id, gap.words, gap.related


def _page(knowledge: Knowledge, query: CoverageQuery, silent: Sequence[Gap], kinds: Sequence[GapKind]) -> Iterator[Gap]:
    """The requested gaps of these kinds, newest of each kind first."""
    mine = [gap for gap in silent if query.namespace in (None, gap.namespace)]
    found = (
        chain(knowledge.gaps.newest_first(kind, query.namespace), (gap for gap in mine if gap.kind == kind))
        for kind in kinds  # a kind is either of silence or not
    )
    return islice(chain.from_iterable(found), query.offset, query.offset + query.limit)


def _counted(
    knowledge: Knowledge, silent: Iterable[Gap], verdict_counts: Iterable[tuple[VerdictKey, int]], namespace: str | None
) -> _Counts:
    jobs, datasets = knowledge.job_tallies, knowledge.dataset_tallies
    gaps: dict[str, Counter[GapKind]] = defaultdict(Counter)
    for (name, kind), count in knowledge.gaps.counts.items():
        if count and namespace in (None, name):
            gaps[name][kind] = count
    for gap in silent:
        if namespace in (None, gap.namespace):
            gaps[gap.namespace][gap.kind] += 1
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    for key, events in verdict_counts:
        verdicts[key.namespace][key.verdict] += events
    return _Counts(
        jobs={name: count for name in jobs.namespaces() if (count := len(jobs.newest_first(name)))},
        runs={name: count for name, count in knowledge.gaps.runs.items() if count},
        datasets={name: count for name in datasets.namespaces() if (count := len(datasets.by_name(name)))},
        gaps=gaps,
        verdicts=verdicts,
    )


def _covered(counts: _Counts, names: Sequence[str]) -> shapes.Covered:
    verdicts: Counter[str] = Counter()
    kinds: Counter[GapKind] = Counter()
    for name in names:
        verdicts.update(counts.verdicts.get(name, {}))
        kinds.update(counts.gaps.get(name, {}))
    return shapes.Covered(
        jobs=sum(counts.jobs.get(name, 0) for name in names),
        runs=sum(counts.runs.get(name, 0) for name in names),
        datasets=sum(counts.datasets.get(name, 0) for name in names),
        gaps=shapes.GapCounts(
            quarantinedNames=kinds["quarantined-name"],
            runsWithoutStart=kinds["run-without-start"],
            runsWithoutEnd=kinds["run-without-end"],
            extractionErrors=kinds["extraction-error"],
            unreadOperators=kinds["unread-operator"],
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


def _signers(verdict_counts: Iterable[tuple[VerdictKey, int]]) -> list[shapes.Signer]:
    """Verdicts by key, events without a key last."""
    by_key: dict[str | None, Counter[str]] = defaultdict(Counter)
    for key, events in verdict_counts:
        by_key[key.key_id][key.verdict] += events
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
