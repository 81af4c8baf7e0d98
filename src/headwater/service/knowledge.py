"""What the service knows: graph and store, as the reading routes use them. Lives on the event loop's thread."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, reduce
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from headwater.errors import InvalidNameError, NotFoundError
from headwater.graph.derived import Derivations
from headwater.graph.lineage import Graph
from headwater.graph.records import Dataset
from headwater.model.facets.about import DatasetTagsFacet, TagsFacet
from headwater.model.facets.dataset import DataSourceFacet
from headwater.model.facets.view import View
from headwater.model.facts import Declaration, Edit, EngineCatalog, Fact, ObservedFacet, Seen
from headwater.model.names import ColumnId, DatasetId, JobId, NodeReading, readings, run_id_of
from headwater.service.activity import Activity, KnownRun, activity, known_run
from headwater.service.listing import NameIndex
from headwater.service.mentions import Mentions, mentions
from headwater.service.rendered import Rendered
from headwater.service.shapes import Field
from headwater.service.tallies import DatasetTallies, DatasetTally, JobTallies, JobTally, Source
from headwater.store.reader import Reader

ViewT = TypeVar("ViewT", bound=View)

_RUN: Final = "run:"
_MAX_READINGS: Final = 1_000
"""Of one node id: there are as many as it has pairs of colons, and nobody's name has so many."""

_PLACE: Final = "ordinal_position"
_KEPT_READ: Final = 2_000
"""Facets kept as they were read."""

_SLICE: Final = 8
"""Facets that are read ahead in one go: about a millisecond's work."""

_FEW: Final = 32
"""Facets that are read for whoever asks for jobs and datasets: as many are unread but right after a start."""


class Touched(NamedTuple):
    """The nodes that facts were about, datasets by their shown names."""

    jobs: frozenset[JobId]
    datasets: frozenset[DatasetId]
    run: str | None


class Knowledge:
    """The graph and the store it was folded from."""

    def __init__(self, store: Reader, graph: Graph) -> None:
        self.store = store
        self.graph = graph
        self._activity: dict[JobId, Activity] = {}
        self.derivations = Derivations(graph)
        self.name_index = NameIndex(graph)
        self.job_tallies = JobTallies(self._job_tally)
        self.dataset_tallies = DatasetTallies(self._dataset_tally)
        self._rendered = Rendered()
        self._rendered_as_of = 0
        """How often classes of names had changed when it was rendered."""
        self._fields_in = lru_cache(maxsize=_KEPT_READ)(self._read_fields)
        self._view = lru_cache(maxsize=_KEPT_READ)(self._read_view)

    # Learning

    def load(self) -> None:
        """Fold everything that the store holds into the graph."""
        self.graph.add_all(self.store.graph_facts())
        self.count_anew()

    def count_anew(self) -> None:
        """Count whoever is in the graph, when somebody asks about all of them."""
        self.job_tallies.touch(self.graph.jobs)
        self.dataset_tallies.touch(map(self.graph.shown, self.graph.datasets))
        self.derivations.touch_all()

    def read_ahead(self) -> Iterator[None]:
        """Read what facets tell of columns, some with each step."""
        is_more = True
        while is_more:
            is_more = self.graph.column_edges.read_some(_SLICE)
            self.derivations.look_at_read()
            yield

    def learn(self, facts: Sequence[Fact]) -> Touched:
        """Add what a stored event says; says what it touched, also what it moved away from."""
        told = mentions(facts)
        before, changes = self._touched(told), self.graph.identities.changes
        only_joined = self.graph.identities.only_joins and not any(isinstance(fact, EngineCatalog) for fact in facts)
        reshaped, hidden = self._reshaped(facts), self._hidden(before)
        self.graph.add_all(facts)
        joins = changes != self.graph.identities.changes
        after = self._touched(told)
        touched = Touched(before.jobs | after.jobs, before.datasets | after.datasets, after.run)
        for job in touched.jobs:
            self._activity.pop(job, None)
        self.job_tallies.touch(touched.jobs)
        self.dataset_tallies.touch(touched.datasets)
        self.derivations.touch(touched.datasets, touched.jobs)
        if joins or before.jobs - after.jobs:
            self.derivations.touch_all()
        if joins:
            self._count_again(touched, only_joined=only_joined and self.graph.identities.only_joins)
        if joins and self._rendered_as_of == changes and only_joined and self.graph.identities.only_joins:
            self._rendered_as_of = self.graph.identities.changes  # it is among those touched that names were joined
        is_renamed = joins or before.datasets != after.datasets or bool(told.declared_jobs)
        is_renamed |= hidden != self._hidden(before)
        self._forget(touched, touched.datasets if is_renamed else reshaped)
        if any(isinstance(fact, Edit) for fact in facts):  # people are slow, and may say anything about anything
            self._rendered = Rendered()
        return touched

    def _count_again(self, touched: Touched, *, only_joined: bool) -> None:
        """Look again at whoever may add something else because classes of names changed.

        Where names were only joined, these are all that now go by one name, what reads and writes them, and what their
        columns feed: two edges may have become one.
        """
        if not only_joined:
            self.job_tallies.touch_all()
            self.dataset_tallies.touch_all()
            return
        for name in touched.datasets:
            members = tuple(self.graph.identities.members(name))
            self.dataset_tallies.touch(members)
            self.job_tallies.touch(self.graph.readers(name) | self.graph.writers(name))
            for member in members:
                self.dataset_tallies.touch(map(self.graph.shown, self.graph.column_edges.known_to_be_fed_by(member)))

    def count_up(self) -> Iterator[None]:
        """Look at jobs and datasets that were touched since somebody asked about all of them, some with each step."""
        yield from self.job_tallies.count_up()
        yield from self.dataset_tallies.count_up()

    def _reshaped(self, facts: Iterable[Fact]) -> set[DatasetId]:
        """The datasets of which it may now be another version that some run has met, called before the facts are added.

        That is none where the newest is just told again.
        """
        reshaped: set[DatasetId] = set()
        for fact in facts:
            match fact:
                case ObservedFacet(dataset=name, slot="facets", name="schema" | "version" as facet):
                    dataset = self.graph.datasets.get(name)
                    stamp, content = dataset.facets.get(facet, (None, b"")) if dataset else (None, b"")
                    if stamp is None or content != fact.content or fact.stamp < stamp:
                        reshaped.add(name)
                case Declaration(node=DatasetId() as name):
                    reshaped.add(name)
                case _:
                    pass
        return reshaped

    def _hidden(self, touched: Touched) -> list[DatasetId]:
        return [name for name in touched.datasets if self.graph.hides(name)]

    def _forget(self, touched: Touched, reshaped: Iterable[DatasetId]) -> None:
        """Forget what is kept of what was touched, and of the jobs whose runs may have met other versions."""
        around = (self.graph.readers(name) | self.graph.writers(name) for name in reshaped)
        members = (self.graph.identities.members(name) for name in touched.datasets)
        self._rendered.forget(touched.jobs.union(*around), touched.datasets.union(*members))

    @property
    def rendered(self) -> Rendered:
        """Parts of answers that still hold; all are forgotten when it may have changed anywhere which names are one."""
        if self._rendered_as_of != self.graph.identities.changes:
            self._rendered_as_of = self.graph.identities.changes
            self._rendered = Rendered()
        return self._rendered

    def _touched(self, told: Mentions) -> Touched:
        jobs = told.jobs | told.declared_jobs
        datasets = told.datasets.union(*told.aliases)
        for run_id in told.runs:
            jobs.update(self._jobs_of(run_id))
        for job in (self.graph.jobs[name] for name in told.declared_jobs if name in self.graph.jobs):
            datasets.update(job.reads, job.writes)
        for end in (end for name in told.declared_jobs for end in self.graph.declared_ends(name)):
            (jobs if isinstance(end, JobId) else datasets).add(end)  # type: ignore[arg-type]
        shown = frozenset(name for name in map(self.graph.shown, datasets) if name.is_complete)
        return Touched(frozenset(jobs), shown, next(iter(told.runs), None))

    def _jobs_of(self, run_id: str) -> Iterator[JobId]:
        """The job of a run and that of its parent, each also as other runs have it that name these as their parents."""
        yield from self.graph.child_runs.get(run_id, ())
        run = self.graph.runs.get(run_id)
        if run is not None and run.of_job is not None:
            yield run.of_job.job
            if run.of_job.parent is not None:
                yield from self.graph.child_runs[run.of_job.parent.run_id]

    # Who is known

    def is_dataset(self, name: DatasetId) -> bool:
        """Whether a dataset goes by this name."""
        shown = self.graph.shown(name)
        dataset = self.graph.datasets.get(shown)
        return dataset is not None and dataset.is_known and shown.is_complete and not self.graph.hides(name)

    def is_job(self, name: JobId) -> bool:
        """Whether a job goes by this name."""
        job = self.graph.jobs.get(name)
        return job is not None and job.is_known and not self.graph.hides(name)

    def dataset(self, name: DatasetId) -> DatasetId:
        """The same name, once a dataset is known to go by it.

        Raises:
            NotFoundError: none does.
        """
        if not self.is_dataset(name):
            raise NotFoundError(f"Dataset '{name.name}' not found.")
        return name

    def named(self, name: DatasetId) -> DatasetId:
        """The same name, once an event was heard to use it, be it without a namespace.

        Raises:
            NotFoundError: none was.
        """
        if not self.graph.identities.knows(name):
            raise NotFoundError(f"Dataset '{name.name}' not found.")
        return name

    def job(self, name: JobId) -> JobId:
        """The same name, once a job is known to go by it.

        Raises:
            NotFoundError: none does.
        """
        if not self.is_job(name):
            raise NotFoundError(f"Job '{name.name}' not found.")
        return name

    def run(self, run_id: str) -> KnownRun:
        """The run, under its id in either case.

        Raises:
            NotFoundError: nobody ever named it.
        """
        run = known_run(self.graph, run_id_of(run_id))
        if run is None:
            raise NotFoundError(f"Run '{run_id}' not found.")
        return run

    def node(self, node_id: str) -> DatasetId | JobId | ColumnId:
        """What a node id means: of all its readings the first that is known, datasets by their shown names.

        A run (`run:ID`) stands for its job.

        Raises:
            NotFoundError: none is known, or there is no reading.
        """
        if node_id.startswith(_RUN):
            return self.run(node_id.removeprefix(_RUN).partition("#")[0]).job
        try:
            read = list(islice(_readings(node_id), _MAX_READINGS))
        except InvalidNameError as fault:
            raise NotFoundError("HTTP 404 Not Found") from fault
        for reading in read:
            if (node := self._known(reading)) is not None:
                return node
        match read[0].node:
            case ColumnId(dataset, column):
                raise NotFoundError(f"Field '{column}' of dataset '{dataset.name}' not found.")
            case JobId(_, name):
                raise NotFoundError(f"Job '{name}' not found.")
            case DatasetId(_, name):
                raise NotFoundError(f"Dataset '{name}' not found.")

    def _known(self, reading: NodeReading) -> DatasetId | JobId | ColumnId | None:
        match reading.node:
            case JobId() as job if self.is_job(job):
                return job
            case DatasetId() as name if self.is_dataset(name) or self._told_of(name) is not None:
                return self.graph.shown(name)
            case ColumnId(dataset, column) if not self.graph.hides(dataset) and self._has_column(dataset, column):
                return ColumnId(self.graph.shown(dataset), column)
        return None

    def _has_column(self, dataset: DatasetId, column: str) -> bool:
        """Whether the dataset has the column, or its schema one inside others by that path."""
        _, schema = self.graph.facets_of(dataset).get("schema", (None, None))
        return column in self.all_columns(dataset) or _has_path(self.fields(schema), column)

    def _told_of(self, name: DatasetId) -> Seen | None:
        """When another dataset was said to be made from this one, of which nobody told anything itself."""
        self.catch_up_derivations()
        return None if self.graph.hides(name) else self.derivations.told_of(self.graph.shown(name))

    def catch_up_derivations(self) -> None:
        """Look at all datasets that may be made from others without a job, also by facets that came a moment ago."""
        self.graph.column_edges.read_some(_FEW)
        for _ in self.derivations.catch_up():
            pass

    def share_derivations(self, now: "Knowledge") -> None:
        """Look also at the datasets that are made from others without a job by what is known now."""
        now.catch_up_derivations()
        self.derivations.touch_also(now.graph.told_directly)

    def names(self, name: DatasetId) -> list[Dataset]:
        """What is known under each of the dataset's names."""
        members = (self.graph.datasets.get(member) for member in self.graph.members(name))
        return [dataset for dataset in members if dataset is not None and dataset.is_known]

    def seen(self, name: DatasetId) -> Seen:
        """When a known dataset was touched or declared, under any of its names, or else told to be a source."""
        known = [dataset.seen for dataset in self.names(name)]
        if not known and (told := self._told_of(name)) is not None:
            return told
        return reduce(Seen.union, known)

    def was_touched(self, name: DatasetId) -> bool:
        """Whether a run read or wrote the dataset, under any of its names."""
        return any(dataset.observed is not None for dataset in self.names(name))

    # What a job did

    def activity(self, job: JobId) -> Activity:
        """The runs of a known job, newest first; kept until an event touches the job."""
        known = self._activity.get(job)
        if known is None:
            known = self._activity[job] = activity(self.graph, job)
        return known

    def _job_tally(self, name: JobId) -> JobTally | None:
        job = self.graph.jobs.get(name)
        if job is None or not job.is_known:
            return None
        edges = len(self.graph.reads(name)) + len(self.graph.writes(name))
        tags = tuple(dict.fromkeys(self.told_job_tags(name)))
        return JobTally(self.activity(name).seen, not self.graph.hides(name), edges, tags)

    def _dataset_tally(self, name: DatasetId) -> DatasetTally | None:
        if self.graph.shown(name) != name or not self.names(name):
            return None
        namespaces = {member.namespace for member in self.graph.identities.members(name) if member.is_complete}
        dataset = self.graph.datasets.get(name)
        is_shown = dataset is not None and dataset.is_known and name.is_complete and not self.graph.hides(name)
        digests = {facet: digest for facet, (_, digest) in self.graph.facets_of(name).items()} if is_shown else {}
        columns, edges = self._column_counts(name) if is_shown else (0, 0)
        facet = self.view(DataSourceFacet, digests)
        source = None if facet is None or not facet.name else Source(facet.name, facet.uri or "")
        tags = tuple(dict.fromkeys(word for _, word in self.told_tags(name)))
        return DatasetTally(self.seen(name), is_shown, tuple(sorted(namespaces)), columns, edges, source, tags)

    # Facets and columns

    def view(self, kind: type[ViewT], digests: Mapping[str, bytes]) -> ViewT | None:
        """A facet out of digests by facet name, or None where it is absent, deleted or cannot be read."""
        digest = digests.get(kind.key)
        read = None if digest is None else self._view(kind, digest)
        return read if isinstance(read, kind) else None

    def told_job_tags(self, job: JobId) -> Iterator[str]:
        """The tags that producers told of a known job, in their order."""
        digests = {name: facet.content for name, facet in self.graph.jobs[job].facets.items() if name == TagsFacet.key}
        facet = self.view(TagsFacet, digests)
        yield from (tag.word for tag in (facet and facet.tags) or ())

    def told_tags(self, name: DatasetId) -> Iterator[tuple[str | None, str]]:
        """The tags that producers told of a dataset, in their order, each with the column that it is on, if any."""
        _, digest = self.graph.facets_of(name).get(DatasetTagsFacet.key, (None, None))
        facet = None if digest is None else self.view(DatasetTagsFacet, {DatasetTagsFacet.key: digest})
        yield from ((tag.field or None, tag.word) for tag in (facet and facet.tags) or ())

    def fields(self, schema: bytes | None) -> tuple[Field, ...]:
        """The columns that a schema facet lists, from its digest; parts that cannot be read are passed over."""
        return () if schema is None else self._fields_in(schema)

    def columns(self, name: DatasetId) -> tuple[str, ...]:
        """The columns of a dataset by its newest schema, then others that column edges end at, by name."""
        facets = self.graph.facets_of(name)
        fields = self.fields(facets["schema"][1] if "schema" in facets else None)
        fed = {edge.target_column for edge in self.graph.column_edges_into(name) if edge.target_column is not None}
        return tuple(dict.fromkeys((*(field["name"] for field in fields), *sorted(fed))))

    def all_columns(self, name: DatasetId) -> tuple[str, ...]:
        """The columns of a dataset, then others that column edges start at, by name.

        The dataset may be one that is known only as where columns come from.
        """
        shown = self.graph.shown(name)
        read = {
            edge.source_column
            for target in self.graph.fed_by(shown)
            for edge in self.graph.column_edges_into(target)
            if edge.source == shown and edge.source_column is not None
        }
        return tuple(dict.fromkeys((*self.columns(name), *sorted(read))))

    def _column_counts(self, name: DatasetId) -> tuple[int, int]:
        """How many columns a dataset has, and how many column edges end at it."""
        facets = self.graph.facets_of(name)
        fields = self.fields(facets["schema"][1] if "schema" in facets else None)
        fed, edges = self.graph.count_column_edges_into(name)
        return len(fed.union(field["name"] for field in fields)), edges

    def _read_view(self, kind: type[View], digest: bytes) -> object:
        return kind.read({kind.key: self.store.content(digest)})

    def _read_fields(self, schema: bytes) -> tuple[Field, ...]:
        return tuple(_fields(self.store.content(schema).get("fields")))


def _readings(node_id: str) -> Iterator[NodeReading]:
    yield from readings(node_id)
    whole, sharp, _ = node_id.rpartition("#")  # a version may follow, as in Marquez's ids
    if sharp:
        with suppress(InvalidNameError):  # it is the sharp of a name then
            yield from readings(whole)


def _fields(entries: object) -> Iterable[Field]:
    for entry in _in_place(entries) if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str) and entry["name"]:
            field = Field(
                name=entry["name"], type=_text(entry, "type"), description=_text(entry, "description"), tags=()
            )
            if nested := tuple(_fields(entry.get("fields"))):
                field["fields"] = nested
            yield field


def _has_path(fields: Iterable[Field], path: str) -> bool:
    return any(
        path == field["name"]
        or (path.startswith(f"{field['name']}.") and _has_path(field.get("fields", ()), path[len(field["name"]) + 1 :]))
        for field in fields
    )


def _in_place(entries: list[Any]) -> list[Any]:
    """The fields by their ordinal position, where each of them has one; else as they were told."""
    places = [place for each in entries if isinstance(each, dict) and isinstance(place := each.get(_PLACE), int)]
    return sorted(entries, key=lambda each: int(each[_PLACE])) if len(places) == len(entries) else entries


def _text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) else None
