"""The facets of a few runs, read from facts in memory as from a store."""

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings

from headwater.model.events import parse_event
from headwater.store.entries import entry_of
from headwater.store.facet_reader import ObservedFacetRow
from headwater.store.few_facts import FewFacts
from headwater.store.sqlite import SqliteStore
from tests.support.logs import RUN_IDS, logs


@given(logs)
@settings(max_examples=60)
def test_the_facets_of_runs_are_those_that_a_store_of_the_same_events_has(log: list[bytes]) -> None:
    few = FewFacts()
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        for raw in log:
            (stored,) = store.add([entry_of(parse_event(raw), "unsigned", None, received_us=1)])
            few.add_all(stored.facts)
        store.catch_up()

        assert few.run_facets(RUN_IDS) == store.run_facets(RUN_IDS)
        few_observed, observed = few.observed_facets(RUN_IDS), store.observed_facets(RUN_IDS)
        assert few_observed.keys() == observed.keys()
        for run_id, rows in observed.items():
            assert [place(row) for row in few_observed[run_id]] == [place(row) for row in rows]
            assert sorted(map(repr, few_observed[run_id])) == sorted(map(repr, rows))


def place(row: ObservedFacetRow) -> tuple[str, str, str]:
    """What rows are sorted by."""
    return row.name, *row.dataset
