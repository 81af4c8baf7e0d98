"""The columns and datasets that jobs use themselves, by their own `lineage` facets: for example, to filter rows.

Such a use is evaluated like any other (`uses`): reports of all runs count, not only of the newest. A later run does
not have the use if it reports columns, or inputs, but not this.
"""

from collections.abc import Generator, Iterable, Iterator
from collections.abc import Set as AbstractSet

from headwater.graph.impact.run_groups import RunProfile
from headwater.graph.impact.uses import LaterAnswer, ReportedUse, Since, Uses, combined
from headwater.graph.records import Run
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import BEFORE_ALL_US


class OwnUse:
    """One use by a job itself: of a column, or of an entire dataset."""

    __slots__ = ("_facets", "_job", "_reading", "_since", "_source", "_uses")

    def __init__(
        self, uses: Uses, reading: ReportedUse, source: DatasetId, job: JobId, facets: AbstractSet[bytes]
    ) -> None:
        """The use of `source` by the job, in one state of the graph.

        Args:
            uses: evaluates runs on demand.
            reading: the job's use of the dataset at all.
            source: the dataset that is read.
            job: the user.
            facets: the `lineage` facets in which its runs report the use; empty if others or a declaration do.
        """
        self._uses = uses
        self._reading = reading
        self._source = source
        self._job = job
        self._facets = facets
        self._since: list[Since | None] = []
        """Cached result; empty until first requested."""

    @property
    def last_us(self) -> int | None:
        """When the use was last reported."""
        known = self._uses.graph.jobs.get(self._job)
        times = () if known is None else (known.uses[facet].seen for facet in self._facets & known.uses.keys())
        seen = Seen.over(times)
        return self._reading.last_us if seen is None else seen.last_us

    def since(self, job: JobId | None, *, is_whole: bool) -> Generator[None, None, Since | None]:
        """As for any use; see `ReportedUse.since`."""
        if is_whole:
            return (yield from self._reading.since(job, is_whole=True))
        if not self._since:
            later = (
                None if self._is_surely_in_force() else (yield from combined((yield from self._answers_by_output())))
            )
            self._since.append(None if later is None else later.since())
        return self._since[0]

    def _is_surely_in_force(self) -> bool:
        """Whether the use is certain without a look at all runs: others report it, or all runs, or the newest run."""
        known = self._uses.graph.jobs.get(self._job)
        if not self._facets or known is None:
            return True
        if any(facet in known.uses and known.uses[facet].runs == len(known.runs) for facet in self._facets):
            return True
        newest = self._uses.runs.newest(self._job, ())
        if newest is None or self._facets.isdisjoint(newest.uses):
            return False
        return not known.writes or any(direction == "output" for direction, _ in newest.ends)

    def _answers_by_output(self) -> Generator[None, None, Iterator[LaterAnswer]]:
        """The answers of later runs, for each output that the job produced with the use."""
        runs = yield from self._uses.runs.of(self._job)
        return (self._since_for_output(target) for target in self._uses.outputs(runs, self._is_reported_by))

    def _since_for_output(self, target: DatasetId | None) -> LaterAnswer:
        uses, job = self._uses, self._job
        members = () if target is None else uses.evidence_of(target).members
        names = uses.graph.members(self._source)
        producing = (yield from uses.runs.of(job)).producing(members)

        def last_us(_: RunProfile, run: Run) -> int:
            own = {} if run.extras is None else run.extras.uses
            return max((seen.last_us for facet, seen in own.items() if facet in self._facets), default=BEFORE_ALL_US)

        def does_without(profile: RunProfile) -> bool:
            return (
                bool(profile.strongest(members)) or self._reports_own_uses(profile.uses) or profile.reads_others(names)
            )

        return uses.since(
            job, producing, [group for group in producing if self._is_reported_by(group.profile)], last_us, does_without
        )

    def _is_reported_by(self, profile: RunProfile) -> bool:
        return not self._facets.isdisjoint(profile.uses)

    def _reports_own_uses(self, facets: Iterable[bytes]) -> bool:
        """Whether one of these facets reports uses of the job itself, not only of others."""
        graph = self._uses.graph
        return any(True for facet in facets for _ in graph.uses_in(facet, self._job, is_own=True))
