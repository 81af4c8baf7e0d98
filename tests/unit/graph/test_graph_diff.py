"""Comparing layouts, and finding the event that made a change, as data."""

from headwater.graph.diff.compare import Change, Element, compare, touches
from headwater.graph.diff.event_content import EventContent, Merged, Naming
from headwater.graph.diff.originating_event import GraphKnowledge, originating_event
from headwater.model.names import ColumnId, DatasetId, JobId

ORDERS = DatasetId("lake", "orders")
LOAD = JobId("lake", "orders")
"""A job that is equal to the dataset as a pair."""
PRICE = Element("column", (ColumnId(ORDERS, "price"),))


def told(log_index: int, layout: dict[Element, object]) -> EventContent:
    return EventContent(log_index, layout, {}, frozenset(), None, frozenset())


NOBODY = GraphKnowledge(lambda _: False)


def test_changes_stand_by_kind_and_then_by_name() -> None:
    job, other = Element("job", (LOAD,)), Element("job", (JobId("etl", "x"),))

    changes = compare({PRICE: "int", job: None}, {PRICE: "bigint", other: None})

    assert changes == [
        Change(other, "came", None, None),
        Change(job, "went", None, None),
        Change(PRICE, "changed", "int", "bigint"),
    ]


def test_a_job_and_a_dataset_of_one_name_are_told_apart() -> None:
    came = Change(Element("job", (LOAD,)), "came", None, None)

    assert touches(came, LOAD, None)
    assert not touches(came, ORDERS, None)


def test_a_column_belongs_to_its_dataset_and_its_namespace() -> None:
    changed = Change(PRICE, "changed", "int", "bigint")

    assert touches(changed, ORDERS, "lake")
    assert not touches(changed, ORDERS, "elsewhere")


def test_of_what_changed_there_and_back_and_there_again_the_last_time_counts() -> None:
    events = [told(place, {PRICE: kind}) for place, kind in enumerate(["bigint", "int", "bigint", "bigint"])]

    assert originating_event(Change(PRICE, "changed", "int", "bigint"), events, NOBODY, NOBODY) == 2


def test_a_column_went_by_the_first_schema_without_it() -> None:
    schema = Element("schema", (ORDERS,))
    events = [told(4, {schema: (("price", "int"),), PRICE: "int"}), told(5, {schema: ()}), told(6, {schema: ()})]

    assert originating_event(Change(PRICE, "went", "int", None), events, NOBODY, NOBODY) == 5


def test_what_nobody_speaks_of_was_done_by_nobody() -> None:
    assert originating_event(Change(PRICE, "came", None, "int"), [told(1, {})], NOBODY, NOBODY) is None


def test_an_edge_between_a_job_and_a_dataset_of_one_name_was_completed_by_the_event_that_gave_the_run() -> None:
    former, edge = JobId("etl", "x"), Element("edge", (LOAD, ORDERS), "writes")
    met = told(0, {Element("edge", (former, ORDERS), "writes"): None})._replace(runs={"run": former})
    given = told(1, {})._replace(runs={"run": LOAD})
    after = NOBODY._replace(holders={edge: frozenset({"run"})})

    assert originating_event(Change(edge, "came", None, None), [met, given], NOBODY, after) == 1
    assert originating_event(Change(edge, "came", None, None), [given, met], NOBODY, after) == 0


def test_events_merge_into_their_last_values_with_the_first_event_that_gave_each() -> None:
    merged = Merged()
    for place, kind in enumerate(["int", "bigint", "bigint"], start=1):
        merged.add(told(place, {PRICE: kind}))

    assert (merged.layout, merged.since) == ({PRICE: "bigint"}, {PRICE: 2})


def test_an_edge_went_when_the_last_run_of_those_that_made_it_was_given_to_another_job() -> None:
    edge, other = Element("edge", (ORDERS, LOAD), "reads"), JobId("etl", "x")
    given = [(0, "one", other), (1, "two", LOAD), (2, "two", other), (3, "one", other), (4, "two", other)]
    events = [told(place, {})._replace(runs={run: job}) for place, run, job in given]
    before = NOBODY._replace(holders={edge: {"one", "two"}})

    assert originating_event(Change(edge, "went", None, None), events, before, NOBODY) == 2


def test_of_three_datasets_that_become_one_each_went_by_the_event_that_joined_it_with_the_one_that_stays() -> None:
    one, two, three = (DatasetId("lake", name) for name in ("one", "two", "three"))
    pairs = [(three, two), (three, two), (two, one)]
    events = [told(place, {})._replace(naming=Naming(one=frozenset({pair}))) for place, pair in enumerate(pairs)]
    after = NOBODY._replace(names=lambda _: (one, three, two), one_with=lambda _: (one, three, two))

    changed = Change(Element("dataset", (one,)), "changed", (one,), (one, three, two))
    went = [Change(Element("dataset", (name,)), "went", (name,), None) for name in (two, three)]

    assert [originating_event(change, events, NOBODY, after) for change in (changed, *went)] == [2, 2, 2]
