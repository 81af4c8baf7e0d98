"""The reads of a store."""

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import SetupError, UnavailableError
from headwater.model.edits import EditItem, edit_entry
from headwater.model.events import parse_event
from headwater.model.facts import Content, Declaration, ObservedFacet
from headwater.model.names import DatasetId
from headwater.store.entries import Entry, Stored, entry_of
from headwater.store.facet_reader import Moment
from headwater.store.log_reader import EventsQuery
from headwater.store.opening import open_store
from headwater.store.store import Store
from headwater.store.temporary import TemporaryStore
from headwater.store.writer import Outcome, WriterThread
from tests.support.app import dataset, event, facet, schema
from tests.support.stores import edit

T = DatasetId("lake", "t")
ALIAS = facet(identifiers=[{"namespace": "warehouse", "name": "t", "type": "TABLE"}])


def entry(body: object, verdict: str = "unsigned") -> Entry:
    return entry_of(parse_event(json.dumps(body).encode()), verdict, None, received_us=1)  # type: ignore[arg-type]


def written(run: str, second: int, *columns: str, **facets: object) -> Entry:
    """A run that wrote the dataset T with these columns."""
    shape = {"schema": schema(*columns)} if columns else {}
    time = f"1970-01-01T00:{second // 60:02d}:{second % 60:02d}Z"
    return entry(event(run={"runId": run}, eventTime=time, outputs=[dataset("t", **shape, **facets)]))


def test_the_shape_of_a_dataset_is_known_for_every_time(store: Store) -> None:
    store.add([written("c", 30, "x"), written("a", 10, "x"), written("b", 20, "y"), written("without", 25)])

    moments = {second: Moment.last_of(second * 1_000_000) for second in (9, 10, 19, 20, 29, 30)}
    found = {second: store.facet_at(T, "schema", moment) for second, moment in moments.items()}

    assert found[9] is None
    (x, y) = (store.content(found[second].content)["fields"][0]["name"] for second in (10, 20))  # type: ignore[union-attr]
    assert (x, y) == ("x", "y")
    assert found[19] == found[10]
    assert found[29] == found[20]
    assert found[30] is not None
    assert found[10] is not None
    assert found[30].content == found[10].content


def test_the_shape_of_a_dataset_is_known_within_an_event_that_reads_and_writes_it(store: Store) -> None:
    ends = {"inputs": [dataset("t", schema=schema("x"))], "outputs": [dataset("t", schema=schema("y"))]}
    stored = store.add([entry(event(run={"runId": "a"}, eventTime="1970-01-01T00:00:10Z", **ends))])
    stamp = next(fact.stamp for each in stored for fact in each.facts if isinstance(fact, ObservedFacet))

    found = [store.facet_at(T, "schema", Moment(stamp, is_written)) for is_written in (False, True)]

    assert [store.content(each.content)["fields"][0]["name"] for each in found if each is not None] == ["x", "y"]


def test_only_changes_of_shape_are_returned_in_order(store: Store) -> None:
    store.add([written("d", 40, "y"), written("a", 10, "x"), written("b", 20, "x"), written("c", 30, "y")])

    changes = store.shape_changes(T)

    assert [(change.run_id, change.direction, change.name, change.stamp.time_us) for change in changes] == [
        ("a", "output", "schema", 10_000_000),
        ("c", "output", "schema", 30_000_000),
    ]


def test_changes_of_shape_are_the_same_whether_few_or_many(store: Store) -> None:
    """They are looked up one by one, or all at once where there are many."""
    version = facet(datasetVersion="1")
    entries = [
        *(written(f"{second:02}", second, "x" if second // 5 % 2 else "y") for second in range(20, 59)),
        *(written("20", second, "y") for second in (1, 30, 59)),  # one run reports the same again, between others
        written("v", 3, version=version),
        entry(  # and one event has the dataset as input and as output
            event(
                run={"runId": "both"},
                eventTime="1970-01-01T00:00:41Z",
                inputs=[dataset("t", schema=schema("y"))],
                outputs=[dataset("t", schema=schema("x"))],
            )
        ),
    ]
    store.add(entries)

    few = store.shape_changes(T)
    store.add([written(f"later {minute}", 60 * minute, "z" if minute % 2 else "x") for minute in range(1, 60)])
    many = store.shape_changes(T)

    assert len(few) > 10
    assert many[: len(few)] == few
    assert [change.run_id for change in many[len(few) :]] == [f"later {minute}" for minute in range(1, 60)]


def test_a_query_about_thousands_of_runs_is_split_into_parts(store: Store) -> None:
    """Databases limit the number of values in a statement."""
    ids = [f"{number:02}" for number in range(7)]
    tests = facet(tests=[{"name": "unique", "status": "pass"}])
    store.add([entry(event(run={"runId": each, "facets": {"test": tests}})) for each in ids])
    store.add([written(each, number + 1, "x") for number, each in enumerate(ids)])
    expected = store.reported_run_facets(ids, "test"), store.reported_facets(ids, T, ["schema"])

    many_ids = [each for known in ids for each in (known, *(f"{known}, and nobody {number}" for number in range(400)))]
    facets, shapes = store.reported_run_facets(many_ids, "test"), store.reported_facets(many_ids, T, ["schema"])

    assert (sorted(facets), shapes) == (sorted(expected[0]), expected[1])
    assert [each.run_id for each in shapes] == ids


def _runs(more: int) -> list[str]:
    return ["a", "b", *(f"nobody-{number}" for number in range(more))]


def _digests(known: Iterable[bytes], more: int) -> list[bytes]:
    return [*known, *(number.to_bytes(32) for number in range(more))]


def _logged(store: Store) -> list[bytes]:
    return [logged.digest for logged in store.logged(range(2))]


def _contents(store: Store) -> list[bytes]:
    return [fact.digest for fact in store.facts() if isinstance(fact, Content)]


READS_OF_MANY: dict[str, Callable[[Store, int], Any]] = {
    "at": lambda store, more: store.at(range(2 + more)),
    "bodies": lambda store, more: store.bodies(_digests(_contents(store), more)),
    "count_events_of_runs": lambda store, more: store.count_events_of_runs(_runs(more), 99),
    "known_digests": lambda store, more: store.known_digests(_digests(_logged(store), more)),
    "newest_facets": lambda store, more: store.newest_facets(_runs(more), T),
    "observed_facets": lambda store, more: store.observed_facets(_runs(more)),
    "run_facets": lambda store, more: store.run_facets(_runs(more)),
    "run_verdicts": lambda store, more: store.run_verdicts(_runs(more)),
    "reports_of_runs": lambda store, more: store.reports_of_runs(_runs(more), 0, T, ["schema"]),
    "times_of": lambda store, more: store.times_of(_runs(more)),
    "reported_facets": lambda store, more: store.reported_facets(_runs(more), T, ["schema"]),
    "events_of_runs": lambda store, more: [*store.events_of_runs(_runs(more))],
    "reported_run_facets": lambda store, more: store.reported_run_facets(_runs(more), "test"),
    "with_digests": lambda store, more: store.with_digests(_digests(_logged(store), more)),
}
"""Each read that takes any number of values, called with the stored values and `more` unknown ones."""


@pytest.mark.parametrize("name", READS_OF_MANY)
def test_a_read_takes_any_number_of_values(store: Store, name: str) -> None:
    """More than any database takes in one statement: PostgreSQL 65,535, SQLite 32,766 or what it was built with."""
    tests = facet(tests=[{"name": "unique", "status": "pass"}])
    runs = ({"runId": each, "facets": {"test": tests}} for each in ("a", "b"))
    store.add([entry(event(run=run, outputs=[dataset("t", schema=schema("x"))])) for run in runs])

    few, many = (READS_OF_MANY[name](store, more) for more in (0, 70_000))

    assert few
    if isinstance(many, dict):
        many = {key: value for key, value in many.items() if value or key in few}
    assert many == few


def test_another_reader_knows_the_facts_of_all_stored_events(store: Store) -> None:
    store.add([written("a", 10, "x"), written("b", 20, "y")])

    with closing(store.another_reader()) as reader:
        assert reader.datasets_with_several_schemas() == [T]


def test_contents_can_be_read_while_facts_are_being_read(store: Store) -> None:
    job_entry = entry(
        {"eventTime": "2026-05-22T14:23:11Z", "producer": "p", "job": {"namespace": "etl", "name": "load"}}
    )
    store.add([job_entry])

    declared = [store.content(fact.content) for fact in store.graph_facts() if isinstance(fact, Declaration)]

    assert len(declared) == 1


def test_the_facets_of_many_runs_are_read_at_once(store: Store) -> None:
    run_event = event(
        run={"runId": "a", "facets": {"x": facet(n=1)}},
        outputs=[{**dataset("t", schema=schema("x"), other=facet()), "outputFacets": {"stats": facet(rows=3)}}],
    )
    store.add([entry(run_event), entry(event(run={"runId": "b"}))])

    facets = store.run_facets(["a", "b", "none"])
    observed = store.observed_facets(["a", "b"])

    assert [(row.name, json.loads(row.body)["n"]) for row in facets["a"]] == [("x", 1)]
    assert facets["b"] == facets["none"] == observed["b"] == []
    assert [(row.direction, row.dataset, row.name, row.body is None) for row in observed["a"]] == [
        ("output", T, "schema", True),
        ("output", T, "stats", False),
    ]
    assert store.dataset_facets("a", "output", T).keys() == {"schema", "other"}


def test_bodies_are_the_stored_json(store: Store) -> None:
    store.add([written("a", 1, "x")])
    contents = [fact for fact in store.facts() if isinstance(fact, Content)]

    assert store.bodies([content.digest for content in contents]) == {each.digest: each.body for each in contents}
    assert not any(isinstance(fact, Content) for fact in store.graph_facts())


def test_long_contents_are_packed_in_their_rows_and_read_back_unchanged(store: Store) -> None:
    columns, text = [f"column_{number}" for number in range(100)], "so long " * 100
    run_event = event(
        run={"runId": "a", "facets": {"x": facet(text=text)}},
        outputs=[{**dataset("t", schema=schema(*columns)), "outputFacets": {"stats": facet(text=text)}}],
    )
    store.add([entry(run_event)])

    stats, shape = sorted(store.observed_facets(["a"])["a"], key=lambda row: row.body is None)

    assert stats.body is not None
    assert {json.loads(body)["text"] for body in (stats.body, store.run_facets(["a"])["a"][0].body)} == {text}
    assert [column["name"] for column in store.content(shape.content)["fields"]] == columns
    assert store.dataset_facets("a", "output", T)["schema"] == store.bodies([shape.content])[shape.content]
    assert {fact.body for fact in store.facts() if isinstance(fact, Content)} >= {stats.body}
    assert max(len(row[0]) for row in store._rows("SELECT body FROM content")) < 512


def test_the_events_of_a_run_come_in_pages(store: Store) -> None:
    store.add([written("a", second, str(second)) for second in (3, 1, 2)])

    assert [logged.event_us for logged in store.run_events("a", limit=2, offset=1)] == [2_000_000, 3_000_000]
    assert len(store.run_events("a")) == 3


def test_the_events_of_a_run_are_read_newest_first_however_many(store: Store) -> None:
    store.add([written("a", second) for second in (3, 7, 1, 9, 2, 8, 4, 6, 5)])
    store.add([written("b", 9)])

    assert [logged.event_us // 1_000_000 for logged in store.newest_first("a")] == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert [*store.newest_first("none")] == []
    assert (store.count_run_events("a", 4_000_000), store.count_run_events("a", 2**62)) == (4, 9)


def test_a_store_of_part_of_a_log_reads_its_events_newest_first_with_their_log_indexes(store: Store) -> None:
    store.add([written("a", second) for second in (3, 7, 1, 9, 2, 8, 4, 6, 5)])
    with closing(TemporaryStore(store)) as part:
        part.add_logged([*store.logged(range(2, 9))])

        assert [logged.log_index for logged in part.newest_first("a")] == [3, 5, 7, 8, 6, 4, 2]


def test_the_changes_of_a_runs_state_are_in_log_order(store: Store) -> None:
    for kind, second in (("RUNNING", 1), ("COMPLETE", 3), ("START", 2), ("RUNNING", 4)):
        store.add([entry(event(eventType=kind, run={"runId": "a"}, eventTime=f"1970-01-01T00:00:0{second}Z"))])

    changes = store.changes_of_state("a")

    assert [(change.event_type, change.event_us) for change in changes] == [
        ("COMPLETE", 3_000_000),
        ("START", 2_000_000),
    ]


@pytest.mark.parametrize(
    ("query", "times", "count"),
    [
        (EventsQuery(), [4, 3], 4),
        (EventsQuery(of_runs=True), [4, 2], 3),
        (EventsQuery(after_us=2_000_000, before_us=4_000_000, order="asc"), [2, 3], 2),
        (EventsQuery(before_us=4_000_000, order="asc", of_runs=True), [1, 2], 2),
    ],
)
def test_events_are_ordered_by_time_with_or_without_declarations(
    store: Store, query: EventsQuery, times: list[int], count: int
) -> None:
    declared = {key: value for key, value in event().items() if key in ("eventTime", "producer", "job")}
    store.add([entry({**declared, "eventTime": "1970-01-01T00:00:03Z"}), *(written("a", at) for at in (4, 1, 2))])

    events, total = store.events(query, limit=2, offset=0)

    assert [logged.event_us // 1_000_000 for logged in events] == times
    assert total == count


def test_each_report_of_a_run_facet_has_its_time_and_digest(store: Store) -> None:
    for run, second, count in (("a", 1, 1), ("a", 2, 2), ("b", 3, 1)):
        facets = {"test": facet(n=count), "y": facet()}
        store.add([entry(event(run={"runId": run, "facets": facets}, eventTime=f"1970-01-01T00:00:0{second}Z"))])

    reports = sorted(store.reported_run_facets(["a", "b", "none"], "test"))

    assert [(report.run_id, report.stamp.time_us, store.content(report.content)["n"]) for report in reports] == [
        ("a", 1_000_000, 1),
        ("a", 2_000_000, 2),
        ("b", 3_000_000, 1),
    ]


def test_verdicts_are_counted_for_each_run_and_for_all(store: Store) -> None:
    store.add([written("a", 1), entry(event(run={"runId": "a"}), "ok"), entry(event(run={"runId": "b"}), "ok")])

    assert sorted(store.run_verdicts(["a"])["a"]) == [("ok", None, 1), ("unsigned", None, 1)]
    assert store.verdict_counts() == {"ok": 2, "unsigned": 1}


def test_edits_are_not_counted_among_the_verdicts(store: Store) -> None:
    deletion = edit_entry("1", 5, "ann", [EditItem(("job", "etl", "load"), "deleted", True)])
    restoration = edit_entry("2", 6, "ann", [EditItem(("job", "etl", "load"), "deleted", False)])
    declared = {key: event()[key] for key in ("eventTime", "producer", "job")}
    edits = [entry_of(each, "unsigned", None, 1) for each in (deletion, restoration)]
    store.add([written("a", 1), edits[0], entry(declared), edits[1]])

    assert sorted(store.verdicts().rows, key=str) == [("a", "unsigned", None, 1), (None, "unsigned", None, 1)]
    assert store.verdicts(begin=2).rows == [(None, "unsigned", None, 1)]
    assert store.verdicts(begin=3) == (3, 4, [])


def test_a_database_that_cannot_be_read_is_unavailable(store: Store) -> None:
    store.connection.close()

    with pytest.raises(UnavailableError, match="the database does not answer"):
        store.size()


@pytest.mark.parametrize("lost", ["name", "run"])
def test_facts_without_the_names_they_are_about_are_reported(database: str | Path, lost: str) -> None:
    with closing(open_store(database)) as store:
        store.add([written("a", 1), written("b", 2)])
    edit(database, f"DELETE FROM {lost}")  # noqa: S608  words of ours

    with closing(open_store(database)) as store:
        for read in (store.facts, store.graph_facts):
            with pytest.raises(UnavailableError, match="facts about number 1, which is no name or run in it: was it"):
                list(read())


def test_evidence_about_names_that_were_lost_is_reported(store: Store, database: str | Path) -> None:
    store.add([entry(event(outputs=[dataset("t", symlinks=ALIAS)]))])
    assert store.identity_facts()
    edit(database, "DELETE FROM name")

    with pytest.raises(UnavailableError, match=r"facts about number \d, which is no name or run in it"):
        store.identity_facts()


def test_the_first_entry_since_a_time_is_found_and_a_gap_there_is_reported(store: Store, database: str | Path) -> None:
    store.add([entry(event(run={"runId": str(number)}))._replace(received_us=number // 2) for number in range(8)])

    assert [store.first_received(time_us) for time_us in range(-1, 6)] == [0, 0, 2, 4, 6, 8, 8]
    edit(database, "DELETE FROM log WHERE idx = 4")
    with pytest.raises(UnavailableError, match="the log has no entry 4, but has later ones"):
        store.first_received(2)


def test_all_entries_of_a_time_are_found_although_the_clock_was_set_back(store: Store) -> None:
    times_us = [1, 2, 7, 8, 3, 4, 5, 9]
    store.add(
        [
            entry(event(run={"runId": str(number)}))._replace(received_us=time_us)
            for number, time_us in enumerate(times_us)
        ]
    )

    assert [store.first_received(time_us) for time_us in (0, 2, 3, 6, 8, 9, 10)] == [0, 1, 2, 2, 3, 7, 8]
    assert [store.end_received(time_us) for time_us in (0, 2, 3, 6, 8, 9, 10)] == [0, 1, 2, 7, 7, 7, 8]


def test_a_store_that_does_not_say_whose_facts_it_has_is_reported(database: str | Path) -> None:
    with closing(open_store(database)) as store:
        store.add([entry(event())])
        store.catch_up()
        edit(database, "DELETE FROM folded")

        with pytest.raises(UnavailableError, match="the database does not say of how many entries it has the facts"):
            store.folded()
    with pytest.raises(SetupError, match="the database does not say of how many entries it has the facts: was it"):
        open_store(database)


def test_an_event_that_cannot_be_stored_does_not_affect_its_neighbours(store: Store) -> None:
    delivered: list[tuple[int, Outcome]] = []

    def add(entries: object) -> list[Stored]:
        if any(each.verdict == "poison" for each in entries):  # type: ignore[attr-defined]
            raise ValueError("poison")
        return store.add(entries)  # type: ignore[arg-type]

    writer = WriterThread[int](add, store.catch_up, delivered.extend)
    for number, verdict in enumerate(["unsigned", "poison", "unsigned"]):
        body = event(run={"runId": str(number)})
        writer.submit(entry(body, verdict), number)
    writer.close()

    assert [(number, type(outcome).__name__) for number, outcome in sorted(delivered, key=lambda each: each[0])] == [
        (0, "Stored"),
        (1, "ValueError"),
        (2, "Stored"),
    ]


def test_the_last_report_of_a_facet_by_each_run_is_found_over_all_datasets(store: Store) -> None:
    first, last, other = (facet(tags=[{"key": key}]) for key in "abc")
    reading = event(run={"runId": "b"}, eventTime="1970-01-01T00:00:30Z", inputs=[dataset("u", tags=other)])
    store.add([written("a", 10, tags=first), written("a", 20, tags=last), entry(reading), written("c", 40, "x")])

    tags = {
        (run, name): store.content(report.content)["tags"][0]["key"] for run, name, report in store.all_reported("tags")
    }

    assert tags == {("a", T): "b", ("b", DatasetId("lake", "u")): "c"}
