"""The graph that merged facts build: jobs, runs, datasets, columns, and the edges between them.

Facts may be added one by one as they arrive or merged in bulk; the result is the same. Facet bodies stay outside: the
graph holds their digests, and calls `content` to read column edges or a declaration.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain

from headwater.graph.column_edges import WHOLE
from headwater.graph.columns import ColumnEdge
from headwater.graph.declared import dataset_of, flows, makers, references, targets, uses
from headwater.graph.growth import Growth
from headwater.graph.records import Dataset, Edge, EvidenceKey, Job, Reporter, RunEnd, settled_us
from headwater.model.edits import target_of
from headwater.model.events import Direction
from headwater.model.facts import Declaration, ParentRun, Stamped
from headwater.model.flow_facts import Flow
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId


class Graph(Growth):
    """Jobs, runs and datasets by name, and the edges between them."""

    def members(self, name: DatasetId) -> tuple[DatasetId, ...]:
        """Every name of the dataset, the shown one first."""
        if self.identities.is_alone(name):
            return (name,)
        return tuple(sorted(self.identities.members(name), key=self._showing_order))

    def shown(self, name: DatasetId) -> DatasetId:
        """The dataset's canonical name: names that runs use come before mere aliases, then the least by spelling."""
        if self.identities.is_alone(name):
            return name
        if self._shown_as_of != self.identities.changes:
            self._shown.clear()
            self._shown_as_of = self.identities.changes
        shown = self._shown.get(name)
        if shown is None:
            members = self.identities.members(name)
            shown = self.shown_among(members)
            self._shown.update(dict.fromkeys(members, shown))  # else each of many names would scan all of them
            if name not in members:
                self._shown[name] = shown
                self._spelt_otherwise.add(name)
        return shown

    def shown_among(self, names: Iterable[DatasetId]) -> DatasetId:
        """The name that is shown of a dataset that has these names."""
        return min(names, key=self._showing_order)

    def _showing_order(self, name: DatasetId) -> tuple[bool, bool, DatasetId]:
        dataset = self.datasets.get(name)
        return (not name.is_complete, dataset is None or not dataset.is_known, name)

    def members_of_all(self, names: Iterable[DatasetId]) -> Iterator[DatasetId]:
        """All names of these datasets, in no order; a dataset may be given under several names."""
        return (member for name in self.each_once(names) for member in self.identities.members(name))

    def each_once(self, names: Iterable[DatasetId]) -> set[DatasetId]:
        """The shown name of each of these datasets, once; a dataset may be given under several names."""
        return {*map(self.shown, names)}

    def shown_datasets(self) -> Iterator[DatasetId]:
        """The shown name of each dataset that is not deleted.

        Datasets without a complete name are in quarantine instead.
        """
        placed = self.placed(self.possible_keys().datasets)
        return filter(self.is_shown, chain(self.datasets, (name for name in placed if name not in self.datasets)))

    def placed(self, names: Iterable[DatasetId]) -> set[DatasetId]:
        """The shown names of those of the names that are not complete; they may have no record of their own."""
        return {self.shown(name) for name in names if not name.is_complete}

    def is_shown(self, name: DatasetId) -> bool:
        """Whether this is the shown name of a dataset that is not deleted."""
        return self.is_known(name) and self.shown(name) == name and self.shows(name)

    def is_known(self, shown: DatasetId) -> bool:
        """Whether anything is known of a dataset, by its shown name.

        The shown name itself may be known only as another name of one without a namespace.
        """
        members = (shown,) if self.identities.is_alone(shown) else self.identities.members(shown)
        return any((dataset := self.datasets.get(name)) is not None and dataset.is_known for name in members)

    def shows(self, name: DatasetId) -> bool:
        """Whether the dataset, by its shown name, is neither quarantined nor deleted."""
        return name.is_complete and not self.hides(name)

    def hides(self, node: DatasetId | JobId) -> bool:
        """Whether the node is deleted (a dataset: under all its names) and no later event restored it."""
        if not self.edits.deleted:
            return False
        if isinstance(node, JobId):
            return target_of(node) in self.edits.deleted
        names = [
            name for name in self.identities.members(node) if name in self.datasets and self.datasets[name].is_known
        ]
        return bool(names) and all(target_of(name) in self.edits.deleted for name in names)

    def facets_of(self, name: DatasetId) -> dict[str, Stamped]:
        """The newest content of each of a dataset's facets, over all its names."""
        newest: dict[str, Stamped] = {}
        for member in self.identities.members(name):
            if member in self.datasets:
                for facet, stamped in self.datasets[member].current_facets().items():
                    if facet not in newest or newest[facet] < stamped:
                        newest[facet] = stamped
        return newest

    def digests_of(self, name: DatasetId) -> dict[str, bytes]:
        """The digest of the newest content of each of a dataset's facets, over all its names."""
        return {facet: newest.content for facet, newest in self.facets_of(name).items()}

    def digests_among(self, name: DatasetId, facets: AbstractSet[str]) -> dict[str, bytes]:
        """As `digests_of`, for these facets only."""
        return {facet: digest for facet, digest in self.digests_of(name).items() if facet in facets}

    def digest_of(self, name: DatasetId, facet: str) -> bytes | None:
        """The digest of a dataset facet's newest content, over all its names; None if it has no such facet."""
        newest = self.facets_of(name).get(facet)
        return None if newest is None else newest.content

    def is_settled_since(self, name: DatasetId, facet: str, time_us: int) -> bool:
        """Whether the newest content of a dataset facet was reported by that time, and no other content since then.

        In microseconds since 1970. False for a dataset with several names, or one that was ever declared.
        """
        dataset = self.datasets.get(name)
        if dataset is None or dataset.was_declared or not self.identities.is_alone(name):
            return False
        return facet in dataset.facets and settled_us(dataset, facet) <= time_us

    def job_digests(self, job: JobId) -> dict[str, bytes]:
        """The digest of the newest content of each of a job's facets."""
        return {name: newest.content for name, newest in self.jobs[job].facets.items()}

    def job_digest(self, job: JobId, facet: str) -> bytes | None:
        """The digest of a job facet's newest content; None if it has no such facet, or the job is unknown."""
        known = self.jobs.get(job)
        newest = None if known is None else known.facets.get(facet)
        return None if newest is None else newest.content

    def used_by(self, job: JobId) -> Mapping[DatasetId, Mapping[ColumnEdge, AbstractSet[bytes]]]:
        """The columns or entire datasets that a job is reported to use itself, by shown name of the dataset.

        Each use with the digests of the facets in which runs of the job report it; an empty set where a declaration
        does, or where others report it of a job without runs.
        """
        used: dict[DatasetId, dict[ColumnEdge, set[bytes]]] = {}
        for facet in self.jobs[job].uses:
            for source, edge in self._uses_of_each(facet, job, is_own=True):
                used.setdefault(source, {}).setdefault(edge, set()).add(facet)
        for facet, is_own in self._uses_without_runs(job):
            for source, edge in self._uses_of_each(facet, job, is_own=is_own):
                used.setdefault(source, {})[edge] = set()
        return used

    def _uses_of_each(self, facet: bytes, job: JobId, *, is_own: bool) -> Iterator[tuple[DatasetId, ColumnEdge]]:
        """Each use with its source's shown name; of a source that is used entirely, only that."""
        edges = [(self.shown(edge.source), edge) for edge in self.uses_in(facet, job, is_own=is_own)]
        wholes = {source for source, edge in edges if edge.source_column is None}
        yield from (each for each in edges if each[0] not in wholes or each[1].source_column is None)

    def uses_in(self, facet: bytes, job: JobId, *, is_own: bool) -> Iterator[ColumnEdge]:
        """A job's own uses by the `lineage` facet with this digest; `is_own`: the facet is the job's own."""
        for of_job, edge in self.column_edges.job_uses(facet):
            if of_job == job or (is_own and of_job is None):
                yield edge

    def columns_named_by_readers(self, name: DatasetId) -> set[str]:
        """The columns of a dataset, by its shown name, that jobs use themselves, even where they also use all of it."""
        own = ((facet, job, True) for job in self.readers(name) for facet in self.jobs[job].uses)
        without_runs = (
            (facet, job, is_own) for job in self.readers(name) for facet, is_own in self._uses_without_runs(job)
        )
        used = (
            edge for facet, job, is_own in chain(own, without_runs) for edge in self.uses_in(facet, job, is_own=is_own)
        )
        named = (edge.source_column for edge in used if self.shown(edge.source) == name)
        return {column for column in named if column is not None}

    def _uses_without_runs(self, job: JobId) -> Iterator[tuple[bytes, bool]]:
        """The facets that report what the job uses, except those of its runs, each with whether it is the job's own.

        Reports by others count only for a job without runs.
        """
        known = self.jobs[job]
        if known.declaration is not None and (facet := uses(self.content(known.declaration.content))) is not None:
            yield facet, True
        if known.reported and not known.runs:  # last, since in a past this may load thousands of runs
            reporters = dict.fromkeys(reporter for reporters in known.reported.values() for reporter in reporters)
            yield from ((facet, False) for facet in dict.fromkeys(chain(*map(self._uses_reported_by, reporters))))

    def _uses_reported_by(self, reporter: Reporter) -> Iterable[bytes]:
        """The facets in which a run or declaration reports what jobs use."""
        if isinstance(reporter, str):
            extras = self.runs[reporter].extras
            return () if extras is None else extras.uses
        *_, node = reporter
        known = self.jobs.get(node) if isinstance(node, JobId) else None
        declaration = None if known is None else known.declaration
        facet = None if declaration is None else uses(self.content(declaration.content))
        return () if facet is None else (facet,)

    def has_job(self, name: JobId) -> bool:
        """Whether there is a job by that name, deleted or not.

        A job that is known only from children's parent facets does not count if the parent run itself reports another
        job.
        """
        job = self.jobs.get(name)
        if job is None or not job.is_known:
            return False
        return job.is_known_otherwise or any(self.job_of(run_id) in (None, name) for run_id in job.named)

    def meant(self, parent: ParentRun | None) -> ParentRun | None:
        """A parent or root with its job corrected: if the run itself reports a job, that one counts."""
        own = None if parent is None else self.job_of(parent.run_id)
        return parent if parent is None or own in (None, parent.job) else ParentRun(parent.run_id, own)

    def parts_of(self, name: JobId) -> set[str]:
        """The runs that are children of the job's runs, whatever job they name; possibly others that name the job."""
        job = self.jobs[name]
        misnamed = [run_id for run_id in job.runs if self.may_be_misnamed(run_id)]
        claims = (parts for run_id in misnamed for parts in self.child_runs.get(run_id, {}).values())
        return job.children.union(*claims)

    def may_be_misnamed(self, run_id: str) -> bool:
        """Whether a child may give the run another job than the run itself reports."""
        return run_id in self.misnamed

    def runs_naming(self, name: DatasetId) -> list[str]:
        """The runs that read or wrote the dataset under this exact name, in no order."""
        runs = (run_id for job in self.jobs_naming(name) for run_id in self.jobs[job].runs)
        return self._touching(runs, {("input", name), ("output", name)})

    def _touching(self, run_ids: Iterable[str], ends: AbstractSet[RunEnd]) -> list[str]:
        """Those of the runs that touched any of these ends."""
        return [run_id for run_id in run_ids if not self.runs[run_id].observed.keys().isdisjoint(ends)]

    def count_runs_naming(self, name: DatasetId) -> int:
        """The number of runs that read or wrote the dataset under this exact name; mostly from the edges' counts."""
        return sum(self._count_runs(self.jobs[job], name) for job in self.jobs_naming(name))

    def jobs_naming(self, name: DatasetId) -> AbstractSet[JobId]:
        """The jobs that read or write the dataset under this exact name."""
        dataset = self.datasets.get(name)
        return dataset.readers | dataset.writers if dataset else frozenset()

    def _count_runs(self, job: Job, name: DatasetId) -> int:
        ends: set[RunEnd] = {("input", name), ("output", name)}
        edges = [edges[name] for edges in (job.reads, job.writes) if name in edges]
        if len(edges) == 1 and job.reported.keys().isdisjoint(ends):  # else runs count twice, or others' runs count
            return edges[0].runs
        return len(self._touching(job.runs, ends))

    def reads(self, job: JobId) -> dict[DatasetId, Edge]:
        """The edges to what the job reads, by shown name; a run counts for each name that it used."""
        return self._by_shown_name(self.jobs[job].reads)

    def writes(self, job: JobId) -> dict[DatasetId, Edge]:
        """The edges to what the job writes, by shown name; a run counts for each name that it used."""
        return self._by_shown_name(self.jobs[job].writes)

    def counted_edges(self, job: JobId, direction: Direction) -> dict[DatasetId, Edge]:
        """As `reads` and `writes`, but a run counts once, which takes longer.

        It may use several names of a dataset, or report about its own job under the id of another run.
        """
        known = self.jobs[job]
        edges = known.reads if direction == "input" else known.writes
        shown = self._by_shown_name(edges)
        if len(shown) == len(edges) and not known.reported:  # as nearly always: each has one name
            return shown
        ends: dict[DatasetId, set[RunEnd]] = defaultdict(set)
        for name in edges:
            ends[self.shown(name)].add((direction, name))
        for name in shown:
            if len(ends[name]) > 1 or not known.reported.keys().isdisjoint(ends[name]):
                shown[name] = Edge(shown[name].seen, self._count_naming(known, ends[name]))
        return shown

    def _count_naming(self, job: Job, ends: AbstractSet[RunEnd]) -> int:
        """The number of runs, the job's own or others that report about it, that name any of these ends of the job."""
        others = {each for end in ends for each in job.reported.get(end, ()) if isinstance(each, str)}
        return len(others.union(self._touching(job.runs, ends)))

    def readers(self, name: DatasetId) -> AbstractSet[JobId]:
        """The jobs that read the dataset, under any of its names."""
        if self.identities.is_alone(name):
            dataset = self.datasets.get(name)
            return frozenset() if dataset is None else dataset.readers
        return {job for dataset in self._known_under(name) for job in dataset.readers}

    def writers(self, name: DatasetId) -> AbstractSet[JobId]:
        """The jobs that write the dataset, under any of its names."""
        if self.identities.is_alone(name):
            dataset = self.datasets.get(name)
            return frozenset() if dataset is None else dataset.writers
        return {job for dataset in self._known_under(name) for job in dataset.writers}

    def _known_under(self, name: DatasetId) -> Iterator[Dataset]:
        return (self.datasets[member] for member in self.identities.members(name) if member in self.datasets)

    def _by_shown_name(self, edges: Mapping[DatasetId, Edge]) -> dict[DatasetId, Edge]:
        shown: dict[DatasetId, Edge] = {}
        for name, edge in edges.items():
            main = self.shown(name)
            if not main.is_complete:
                continue
            shown[main] = edge.joined(shown.get(main))
        return shown

    def first_us_of(self, run_ids: Iterable[str]) -> int:
        """The earliest time at which any of these runs reported, in microseconds since 1970; 0 if none did."""
        times = (self.runs[run_id].times for run_id in run_ids)
        return min((each.seen.first_us for each in times if each is not None), default=0)

    def evidence_into(self, name: DatasetId) -> Iterator[tuple[DatasetId, EvidenceKey, Edge]]:
        """The column evidence for the dataset, by the name used: of each run or declaration only the strongest."""
        datasets = ((member, self.datasets.get(member)) for member in self.members(name))
        known = {member: dataset.evidence for member, dataset in datasets if dataset is not None and dataset.evidence}
        if len(known) > 1 and len({strength for edges in known.values() for strength, _ in edges}) > 1:
            yield from self._strongest_of(known)
            return
        for member, edges in known.items():
            for key, edge in edges.items():
                yield member, key, edge

    def _strongest_of(self, members: Collection[DatasetId]) -> Iterator[tuple[DatasetId, EvidenceKey, Edge]]:
        """The strongest evidence of each reporter, where it may have reported weaker evidence under another name."""
        reporters: dict[object, list[tuple[DatasetId, EvidenceKey, Seen]]] = defaultdict(list)
        for member in members:
            for run_id in self.runs_reporting(member):
                reporters[run_id] += ((member, *each) for each in self.runs[run_id].evidence[member])
            for by, declared in self.datasets[member].declared.items():
                if declared.evidence is not None:
                    time_us = declared.stamp.time_us
                    reporters[by, None].append((member, declared.evidence, Seen(time_us, time_us)))
        counted: dict[tuple[DatasetId, EvidenceKey], Edge] = {}
        for reporter, evidence in reporters.items():
            strongest = max(strength for _, (strength, _), _ in evidence)
            for member, key, seen in evidence:
                if key[0] == strongest:
                    is_run = isinstance(reporter, str)
                    counted.setdefault((member, key), Edge(seen, 0)).count(seen, is_new_run=is_run)
        yield from ((*named, edge) for named, edge in counted.items())

    def column_edges_into(self, name: DatasetId) -> dict[ColumnEdge, Seen]:
        """The column edges into the dataset, sources by shown name, each with the times it was seen.

        Quarantined sources are left out.
        """
        edges: dict[ColumnEdge, Seen] = {}
        for member, (_, digest), edge in self.evidence_into(name):
            for column_edge in self.column_edges.edges(member, digest):
                source = self.shown(column_edge.source)
                if not source.is_complete:
                    continue
                shown = column_edge if source is column_edge.source else column_edge._replace(source=source)
                edges[shown] = edges[shown].union(edge.seen) if shown in edges else edge.seen
        return edges

    def count_column_edges_into(self, name: DatasetId) -> tuple[set[str], int]:
        """The columns that edges end at, and how many edges `column_edges_into` would return; cheaper than a call."""
        datasets, columns = self.column_edges.datasets.by_number, self.column_edges.columns.by_number
        shown = cache(lambda number: self.shown(datasets[number]))
        edges: set[tuple[int, DatasetId, int, int]] = set()
        for member, (_, digest), _ in self.evidence_into(name):
            for into, source, out_of, how in self.column_edges.quads(member, digest):
                if shown(source).is_complete:
                    edges.add((into, shown(source), out_of, how))
        return {columns[into] for into, *_ in edges if into != WHOLE}, len(edges)

    def fed_by(self, name: DatasetId) -> set[DatasetId]:
        """The datasets, by shown name, that column edges from this dataset lead to."""
        targets = (target for member in self.identities.members(name) for target in self.column_edges.fed_by(member))
        return {self.shown(target) for target in targets}

    def known_to_be_fed_by(self, name: DatasetId) -> set[DatasetId]:
        """As `fed_by`, for the facets read so far."""
        known = self.column_edges.known_to_be_fed_by
        return {self.shown(target) for member in self.identities.members(name) for target in known(member)}

    def declared_ends(self, job: JobId) -> Iterator[JobId | DatasetId]:
        """The other ends of flows in the job's declaration: jobs, datasets, and targets that it does not write."""
        known = self.jobs.get(job)
        if known is not None and known.declaration is not None:
            declared = self.content(known.declaration.content)
            yield from map(dataset_of, targets(declared))
            for flow in flows(declared):
                yield from (job if end is None else end for end in (flow.source, flow.target))

    def is_declared_to_read(self, job: JobId, names: Collection[DatasetId]) -> bool:
        """Whether the job's declaration has an input with one of these names."""
        declaration = self.jobs[job].declaration
        if declaration is None:
            return False
        declared = references(self.content(declaration.content))
        return any(direction == "input" and dataset_of(reference) in names for direction, reference in declared)

    def flows_reported_by(self, declaration: Declaration) -> Iterator[Flow]:
        """The flows between jobs, or between a named job and a dataset, in a declaration."""
        content = self.content(declaration.content)
        if isinstance(declaration.node, JobId):
            yield from (flow.between(declaration.node) for flow in flows(content))
        else:
            yield from (Flow(job, declaration.node, run_id) for job, run_id in makers(content))
