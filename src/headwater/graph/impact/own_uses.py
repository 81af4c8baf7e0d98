"""What jobs use themselves, as their own `lineage` facets tell: a filter of rows that are sent on, for example.

Such a use stands as any other does (`uses`): what all runs told counts, not only what the newest did, and those later
runs do without it that tell of columns, or of what they read, and not of this.
"""

from collections.abc import Generator, Iterable, Iterator
from collections.abc import Set as AbstractSet

from headwater.graph.impact.alike import Did
from headwater.graph.impact.uses import Answer, Since, Uses, Using, of_all
from headwater.graph.records import Run
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import BEFORE_ALL_US


class UsingItself:
    """One use by a job itself: of a column, or of a dataset as a whole."""

    __slots__ = ("_facets", "_job", "_reading", "_since", "_source", "_uses")

    def __init__(self, uses: Uses, reading: Using, source: DatasetId, job: JobId, facets: AbstractSet[bytes]) -> None:
        """The use of `source` by the job, as `uses` has it of one state of the graph.

        Args:
            uses: looks at runs when it is asked how the use stands.
            reading: that the job reads it at all.
            source: what is read.
            job: who uses it.
            facets: the `lineage` facets by which its runs told so; empty where others tell it, or a declaration.
        """
        self._uses = uses
        self._reading = reading
        self._source = source
        self._job = job
        self._facets = facets
        self._since: list[Since | None] = []
        """Empty until somebody asks."""

    @property
    def last_us(self) -> int | None:
        """When it was told last."""
        known = self._uses.graph.jobs.get(self._job)
        told = () if known is None else (known.uses[facet].seen for facet in self._facets & known.uses.keys())
        seen = Seen.over(told)
        return self._reading.last_us if seen is None else seen.last_us

    def since(self, job: JobId | None, *, is_whole: bool) -> Generator[None, None, Since | None]:
        """As of any use."""
        if is_whole:
            return (yield from self._reading.since(job, is_whole=True))
        if not self._since:
            later = None if self._stands_for_sure() else (yield from of_all((yield from self._for_each_made())))
            self._since.append(None if later is None else later.since())
        return self._since[0]

    def _stands_for_sure(self) -> bool:
        """Without a look at all runs: others tell it, all runs do, or one that no other of the job has followed."""
        known = self._uses.graph.jobs.get(self._job)
        if not self._facets or known is None:
            return True
        if any(facet in known.uses and known.uses[facet].runs == len(known.runs) for facet in self._facets):
            return True
        newest = self._uses.runs.newest(self._job, ())
        if newest is None or self._facets.isdisjoint(newest.uses):
            return False
        return not known.writes or any(direction == "output" for direction, _ in newest.ends)

    def _for_each_made(self) -> Generator[None, None, Iterator[Answer]]:
        """What later runs say that make what the job made with it."""
        runs = yield from self._uses.runs.of(self._job)
        return (self._since_made(target) for target in self._uses.made(runs, self._is_told_by))

    def _since_made(self, target: DatasetId | None) -> Answer:
        uses, job = self._uses, self._job
        members = () if target is None else uses.told(target).members
        names = uses.graph.members(self._source)
        making = (yield from uses.runs.of(job)).making(members)

        def last_us(_: Did, run: Run) -> int:
            told = {} if run.told is None else run.told.uses
            return max((seen.last_us for facet, seen in told.items() if facet in self._facets), default=BEFORE_ALL_US)

        def does_without(did: Did) -> bool:
            return bool(did.strongest(members)) or self._tells_of_own(did.uses) or did.reads_others(names)

        return uses.since(
            job, making, [alike for alike in making if self._is_told_by(alike.did)], last_us, does_without
        )

    def _is_told_by(self, did: Did) -> bool:
        return not self._facets.isdisjoint(did.uses)

    def _tells_of_own(self, facets: Iterable[bytes]) -> bool:
        """Whether one of these says what the job uses itself, and not only what others do."""
        graph = self._uses.graph
        return any(True for facet in facets for _ in graph.uses_in(facet, self._job, is_own=True))
