"""The part of a past that is folded again: runs with events before and after, up to then, and what needs no run."""

from collections.abc import Callable, Collection, Iterable, Mapping

from headwater.graph.identity import Identities
from headwater.graph.lineage import Graph
from headwater.graph.records import Run
from headwater.model.facts import EngineCatalog, Renaming
from headwater.model.names import DatasetId


class Refolded(Graph):
    """Runs with events before and after, up to then, and what was reported without a run."""

    has_failed_then: Callable[[str], bool] | None = None
    """Whether any run had failed by then, folded again or not."""

    def has_failed(self, run_id: str) -> bool:
        """As in `Graph`, for any run."""
        return super().has_failed(run_id) if self.has_failed_then is None else self.has_failed_then(run_id)

    def _add_renaming(self, fact: Renaming) -> None:
        """As in `Graph`; a run that is not folded again has its renames in its own record."""
        if fact.run_id in self.runs:
            super()._add_renaming(fact)
        else:
            self._note_rename(fact)

    def take(self, run_id: str, run: Run) -> None:
        """Add a run from its record."""
        self.runs[run_id] = run
        if run.of_job is not None:
            self._belongs(run_id, run.of_job)
        for (direction, dataset), seen in run.observed.items():
            self._observe(dataset, seen)
            if run.of_job is not None:
                self._count_edge(run.of_job.job, direction, dataset, seen, is_new_run=True)
        for target, evidence in run.evidence.items():
            self._note_reporting_run(target, run_id)
            strongest = max(strength for (strength, _), _ in evidence)
            for key, seen in evidence:
                self._observe(target, seen)
                if key[0] == strongest:
                    self._count_evidence(target, key, seen, is_new_run=True)
        if run.of_job is not None:
            self._count_uses(run.of_job.job, run)
        if run.extras is not None:
            for _, job, _ in run.extras.control:
                self.named_in_control.setdefault(job, set()).add(run_id)
            for flow, seen in run.extras.flows.items():
                if not flow.is_of_own:
                    self._report_flow(run_id, flow, seen)
                elif run.of_job is not None:
                    self._report_flow(run_id, flow.between(run.of_job.job), seen)


class CutIdentities(Identities):
    """Which names were one dataset then.

    A name without other names now had none then: such names are left out until somebody asks for all names.
    """

    def __init__(self, now: Identities, is_named: Callable[[DatasetId], bool]) -> None:
        """No name yet; `is_named` says whether an unchanged run used a name by then."""
        super().__init__()
        self._now = now
        self._is_named = is_named
        self._alone: set[DatasetId] = set()
        """Cache: names without other names, valid for `_alone_as_of`."""
        self._alone_as_of = 0
        self._alone_in_both: set[DatasetId] = set()
        """Cache: complete names without other names, then and now."""
        self._alone_in_both_as_of = 0

    @property
    def names(self) -> Mapping[DatasetId, None]:
        """As in `Identities`; adds all names that were left out."""
        self._note_named(self._now.names)
        return super().names

    @property
    def names_so_far(self) -> Mapping[DatasetId, None]:
        """The names added so far, including all that `now` lacks."""
        return super().names

    def knows(self, name: DatasetId) -> bool:
        """As in `Identities`."""
        return super().knows(name) or self._is_named(name)

    def is_alone(self, name: DatasetId) -> bool:
        """As in `Identities`; cached, since it is asked for each edge of a walk."""
        if self._alone_as_of != self.changes:
            self._alone_as_of = self.changes
            self._forget_alone()
        if name not in self._alone and super().is_alone(name):
            self._alone.add(name)
        return name in self._alone

    def is_alone_in_both(self, name: DatasetId) -> bool:
        """Whether the name is complete, and is its dataset's only name then and now; asked for each node."""
        if name in self._valid_alone_in_both():
            return True
        if not (name.is_complete and self._now.is_alone(name) and self.is_alone(name)):
            return False
        if self._now.knows(name):  # for unknown names `changes` does not show when to drop it
            self._alone_in_both.add(name)
        return True

    def are_alone_in_both(self, names: Collection[DatasetId]) -> bool:
        """Whether this holds for each of the names; asked for each job."""
        return self._valid_alone_in_both().issuperset(names) or all(map(self.is_alone_in_both, names))

    def _valid_alone_in_both(self) -> set[DatasetId]:
        if self._alone_as_of != self.changes or self._alone_in_both_as_of != self._now.changes:
            self._alone_in_both_as_of = self._now.changes
            self._alone_in_both.clear()
        return self._alone_in_both

    def _forget_alone(self) -> None:
        self._alone.clear()
        self._alone_in_both.clear()

    def note(self, name: DatasetId) -> None:
        """Note a name, and other spellings of it that were left out so far."""
        if not super().knows(name):
            self._forget_alone()
            self._note_named(self._now.spellings_of(name))
            super().note(name)

    def _spellings_of(self, unused: DatasetId) -> Mapping[DatasetId, None]:
        """As in `Identities`; other spellings may have been left out so far."""
        self._note_named(name for name in self._now.spellings_of(unused) if name != unused and name not in self._known)
        return super()._spellings_of(unused)

    def forget(self, name: DatasetId) -> None:
        """As in `Identities`; unchanged runs may still use the name."""
        if not self._is_named(name):
            super().forget(name)

    def add_engine_catalog(self, fact: EngineCatalog) -> None:
        """As in `Identities`; it may concern any name, so all are added first."""
        self._note_named(self._now.names)
        super().add_engine_catalog(fact)

    def note_joined(self) -> None:
        """Note the names that may have had other names."""
        is_any = self._now.has_engines or not self._now.only_joins
        self._note_named(self._now.names if is_any else self._now.joined())

    def _note_named(self, names: Iterable[DatasetId]) -> None:
        named = [name for name in names if self._is_named(name)]
        if named:
            self._forget_alone()
        for name in named:
            super().note(name)
