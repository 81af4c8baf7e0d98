"""What is kept of a graph, in step with what it learns: forgotten, or counted anew, where an event changed it."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from headwater.graph.derived import Derivations
from headwater.graph.impact.run_groups import RunGroups
from headwater.graph.lineage import Graph
from headwater.model.facts import Fact
from headwater.model.names import JobId
from headwater.service.knowledge.activities import Activities
from headwater.service.knowledge.gaps import KnownGaps
from headwater.service.knowledge.learning import Before, News, news_since, seen_before
from headwater.service.knowledge.mentions import mentions
from headwater.service.knowledge.rendered import Rendered
from headwater.service.knowledge.run_records import RunRecords
from headwater.service.knowledge.spoken import Spoken
from headwater.service.knowledge.tellers import Tellers
from headwater.service.knowledge.touched import Touched, jobs_of
from headwater.service.knowledge.verdicts import Verdicts
from headwater.service.tallies.totals import DatasetTallies, JobTallies


class RenderedInStep:
    """Parts of answers about a graph; `begin` gives them before any is rendered."""

    def __init__(self, graph: Graph, begin: Callable[[], Rendered]) -> None:
        self._graph = graph
        self._begin = begin
        self._rendered = begin()
        self._as_of = 0
        """How often classes of names had changed when they were rendered."""

    @property
    def valid(self) -> Rendered:
        """Those that still hold; all are forgotten when it may have changed anywhere which names are one."""
        if self._as_of != self._graph.identities.changes:
            self._as_of = self._graph.identities.changes
            self._rendered = self._begin()
        return self._rendered

    def hear(self, before: Before, news: News, runs: Iterable[str]) -> None:
        """Forget what is kept of what was touched, and of the jobs whose runs may have met other versions."""
        if news.joins and news.only_joined and self._as_of == before.changes:
            self._as_of = self._graph.identities.changes  # it is among those touched that names were joined
        touched = news.touched
        around = [
            self._graph.readers(name) | self._graph.writers(name) for name in self._graph.each_once(news.reshaped)
        ]
        members = self._graph.members_of_all(touched.datasets)
        self._rendered.forget(touched.jobs.union(*around), touched.datasets.union(members))
        self._rendered.runs.forget(runs)
        self._rendered.runs.forget_all_of(frozenset[JobId]().union(*around))
        if news.parts:
            self._rendered.forget(jobs_of(self._graph, news.parts), ())
            self._rendered.runs.forget(news.parts)
        if news.is_edit:  # people are slow, and may say anything about anything
            self._rendered = self._begin()


@dataclass(frozen=True, slots=True)
class KeptInStep:
    """A graph, and all that must be told what it learned."""

    graph: Graph
    activities: Activities
    spoken: Spoken
    tellers: Tellers
    run_groups: RunGroups
    derivations: Derivations
    gaps: KnownGaps
    verdicts: Verdicts
    run_records: RunRecords
    job_tallies: JobTallies
    dataset_tallies: DatasetTallies
    rendered: RenderedInStep

    def learn(self, facts: Sequence[Fact]) -> Touched:
        """Add what a stored event says; says what it touched, also what it moved away from."""
        told = mentions(facts)
        before = seen_before(self.graph, self.activities, self.spoken, facts, told)
        self.graph.add_all(facts)
        self._follow_runs(before)
        news = news_since(before, self.graph, told)
        self._count(before, news)
        self.rendered.hear(before, news, told.runs)
        self._look_for_gaps(news, facts, told.runs)
        self._hear_runs(news, told.runs)
        return news.touched

    def _follow_runs(self, before: Before) -> None:
        """Put runs that spoke again where they belong by now."""
        for run_id, seen in before.spoken.items():
            self.spoken.change(run_id, seen, self.spoken.seen(run_id))
        self.tellers.change(before.told)
        self.run_groups.change({run_id: spoke.of_job for run_id, spoke in before.told.items()})

    def _count(self, before: Before, news: News) -> None:
        """See to it that jobs and datasets are counted anew that may add something else."""
        jobs, datasets, _ = news.touched
        self.activities.touch(jobs, before.told)
        self.job_tallies.touch(jobs)
        # A dataset may be shown by another name once an event is the first to name it, or what named it is withdrawn.
        self.dataset_tallies.touch(self.graph.members_of_all(news.reshown))
        self.dataset_tallies.touch(datasets)
        self.derivations.invalidate(datasets, jobs)
        for name in news.respelled:
            fed = [*map(self.graph.shown, self.graph.column_edges.known_to_be_fed_by(name))]
            self.dataset_tallies.touch(fed)
            self.derivations.invalidate(fed, ())
        if news.joins or news.is_moved:
            self.derivations.invalidate_all()
        if news.is_moved:
            known = (self.graph.jobs.get(job) for job in jobs)
            self.derivations.recheck(name for job in known if job is not None for name in job.writes)
        if news.joins:
            self._count_again(news.touched, only_joined=news.only_joined)

    def _count_again(self, touched: Touched, *, only_joined: bool) -> None:
        """Look again at whoever may add something else because classes of names changed.

        Where names were only joined, these are all that now go by one name, what reads and writes them, and what their
        columns feed: two edges may have become one.
        """
        if not only_joined:
            self.derivations.recheck(self.graph.datasets)
            self.job_tallies.touch_all()
            self.dataset_tallies.touch_all()
            self.dataset_tallies.touch(self.graph.identities.joined())  # one that was parted may be shown by itself
            self.gaps.touch_all()
            return
        for name in self.graph.each_once(touched.datasets):
            members = tuple(self.graph.identities.members(name))
            self.dataset_tallies.touch(members)
            self.job_tallies.touch(self.graph.readers(name) | self.graph.writers(name))
            for member in members:
                self.dataset_tallies.touch(map(self.graph.shown, self.graph.column_edges.known_to_be_fed_by(member)))

    def _look_for_gaps(self, news: News, facts: Sequence[Fact], runs: Iterable[str]) -> None:
        """See to it that gaps are looked for anew where there may be others."""
        if news.is_edit:
            self.gaps.touch_all()
        self.gaps.hear(facts, runs)
        touched, is_moved = news.touched, news.joins or news.is_moved
        self.gaps.touch(touched.jobs, touched.datasets, is_renamed=news.is_renamed, is_moved=is_moved)

    def _hear_runs(self, news: News, runs: AbstractSet[str]) -> None:
        """Forget what runs had told, and see to it that how their signatures fared is read again."""
        self.verdicts.hear(runs)
        self.run_records.forget(runs)
        if news.is_moved:
            self.verdicts.begin_again()
