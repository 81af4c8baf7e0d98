"""Comparing layouts, and finding the event that caused a change."""

from headwater.graph.diff.compare import Change, Element, compare, touches
from headwater.graph.diff.event_content import EventContent, Merged, Naming
from headwater.graph.diff.originating_event import GraphKnowledge, originating_event
from headwater.model.names import ColumnId, DatasetId, JobId

ORDERS = DatasetId("lake", "orders")
LOAD = JobId("lake", "orders")
"""A job that is equal to the dataset as a pair."""
PRICE = Element("column", (ColumnId(ORDERS, "price"),))


def content(log_index: int, layout: dict[Element, object]) -> EventContent:
    return EventContent(log_index, layout, {}, frozenset(), None, frozenset())


NOTHING_KNOWN = GraphKnowledge(lambda _: False)


def test_changes_are_sorted_by_kind_and_then_by_name() -> None:
    job, other = Element("job", (LOAD,)), Element("job", (JobId("etl", "x"),))

    changes = compare({PRICE: "int", job: None}, {PRICE: "bigint", other: None})

    assert changes == [
        Change(other, "came", None, None),
        Change(job, "went", None, None),
        Change(PRICE, "changed", "int", "bigint"),
    ]


def test_a_job_and_a_dataset_of_one_name_are_distinguished() -> None:
    came = Change(Element("job", (LOAD,)), "came", None, None)

    assert touches(came, LOAD, None)
    assert not touches(came, ORDERS, None)


def test_a_column_belongs_to_its_dataset_and_its_namespace() -> None:
    changed = Change(PRICE, "changed", "int", "bigint")

    assert touches(changed, ORDERS, "lake")
    assert not touches(changed, ORDERS, "elsewhere")


def test_a_change_that_was_undone_and_repeated_is_from_the_last_event() -> None:
    events = [content(index, {PRICE: kind}) for index, kind in enumerate(["bigint", "int", "bigint", "bigint"])]

    assert originating_event(Change(PRICE, "changed", "int", "bigint"), events, NOTHING_KNOWN, NOTHING_KNOWN) == 2


def test_a_column_was_removed_by_the_first_schema_without_it() -> None:
    schema = Element("schema", (ORDERS,))
    events = [
        content(4, {schema: (("price", "int"),), PRICE: "int"}),
        content(5, {schema: ()}),
        content(6, {schema: ()}),
    ]

    assert originating_event(Change(PRICE, "went", "int", None), events, NOTHING_KNOWN, NOTHING_KNOWN) == 5


def test_a_change_that_no_event_contains_has_no_event() -> None:
    assert originating_event(Change(PRICE, "came", None, "int"), [content(1, {})], NOTHING_KNOWN, NOTHING_KNOWN) is None


def test_an_edge_is_from_the_later_of_the_events_that_give_its_ends_and_the_runs_job() -> None:
    former, edge = JobId("etl", "x"), Element("edge", (LOAD, ORDERS), "writes")
    with_edge = content(0, {Element("edge", (former, ORDERS), "writes"): None})._replace(runs={"run": former})
    with_run = content(1, {})._replace(runs={"run": LOAD})
    after = NOTHING_KNOWN._replace(holders={edge: frozenset({"run"})})

    assert originating_event(Change(edge, "came", None, None), [with_edge, with_run], NOTHING_KNOWN, after) == 1
    assert originating_event(Change(edge, "came", None, None), [with_run, with_edge], NOTHING_KNOWN, after) == 0


def test_events_merge_into_the_last_values_each_with_the_first_event_that_gave_it() -> None:
    merged = Merged()
    for index, kind in enumerate(["int", "bigint", "bigint"], start=1):
        merged.add(content(index, {PRICE: kind}))

    assert (merged.layout, merged.since) == ({PRICE: "bigint"}, {PRICE: 2})


def test_an_edge_was_removed_when_the_last_of_its_runs_moved_to_another_job() -> None:
    edge, other = Element("edge", (ORDERS, LOAD), "reads"), JobId("etl", "x")
    moves = [(0, "one", other), (1, "two", LOAD), (2, "two", other), (3, "one", other), (4, "two", other)]
    events = [content(index, {})._replace(runs={run: job}) for index, run, job in moves]
    before = NOTHING_KNOWN._replace(holders={edge: {"one", "two"}})

    assert originating_event(Change(edge, "went", None, None), events, before, NOTHING_KNOWN) == 2


def test_datasets_that_become_one_are_removed_by_the_event_that_joins_each_with_the_remaining() -> None:
    first, second, third = (DatasetId("lake", name) for name in ("one", "two", "three"))
    pairs = [(third, second), (third, second), (second, first)]
    events = [content(index, {})._replace(naming=Naming(one=frozenset({pair}))) for index, pair in enumerate(pairs)]
    after = NOTHING_KNOWN._replace(names=lambda _: (first, third, second), one_with=lambda _: (first, third, second))

    changed = Change(Element("dataset", (first,)), "changed", (first,), (first, third, second))
    went = [Change(Element("dataset", (name,)), "went", (name,), None) for name in (second, third)]

    assert [originating_event(change, events, NOTHING_KNOWN, after) for change in (changed, *went)] == [2, 2, 2]
