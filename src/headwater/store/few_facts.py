"""The facets of a few runs, from the facts of their events: sooner than a temporary store is opened for them."""

from collections.abc import Iterable, Sequence

from headwater.model.facts import SHAPE_PARTS, Content, Fact, ObservedFacet, RunFacet
from headwater.store.facet_reader import ObservedFacetRow, RunFacetRow


class FewFacts:
    """Answers two reads of `FacetReader` as a store with these facts would."""

    def __init__(self) -> None:
        self._bodies: dict[bytes, bytes] = {}
        self._of_runs: dict[tuple[object, ...], RunFacet] = {}
        self._observed: dict[tuple[object, ...], ObservedFacet] = {}

    def add_all(self, facts: Iterable[Fact]) -> None:
        """Add the facts of one event or more."""
        for fact in facts:
            if isinstance(fact, Content):
                self._bodies[fact.digest] = fact.body
            elif isinstance(fact, RunFacet):
                self._of_runs[fact.key] = fact.merge(self._of_runs.get(fact.key, fact))
            elif isinstance(fact, ObservedFacet):
                self._observed[fact.key] = fact.merge(self._observed.get(fact.key, fact))

    def run_facets(self, run_ids: Sequence[str]) -> dict[str, list[RunFacetRow]]:
        """As in `FacetReader`."""
        facets: dict[str, list[RunFacetRow]] = {run_id: [] for run_id in run_ids}
        for fact in sorted(self._of_runs.values(), key=lambda fact: fact.name):
            if (of_run := facets.get(fact.run_id)) is not None:
                of_run.append(RunFacetRow(fact.name, self._bodies[fact.content]))
        return facets

    def observed_facets(self, run_ids: Sequence[str]) -> dict[str, list[ObservedFacetRow]]:
        """As in `FacetReader`."""
        facets: dict[str, list[ObservedFacetRow]] = {run_id: [] for run_id in run_ids}
        for fact in sorted(self._observed.values(), key=lambda fact: (fact.name, fact.dataset)):
            is_of_direction = fact.slot == "direction_facets"
            of_run = facets.get(fact.run_id) if is_of_direction or fact.name in SHAPE_PARTS else None
            if of_run is not None:
                body = self._bodies[fact.content] if is_of_direction else None
                of_run.append(ObservedFacetRow(fact.stamp, fact.direction, fact.dataset, fact.name, fact.content, body))
        return facets
