"""Runs derived from the records of Connect's topics. The sequences are those that Kafka Connect 4.3.1 writes."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.capture.connect.classes import deciding_properties
from headwater.capture.connect.connectors import Connector, RunUpdate, Workers
from headwater.capture.connect.lifecycle import Lifecycles
from headwater.capture.connect.records import (
    Committed,
    Configured,
    Delivered,
    Record,
    Status,
    TargetState,
    TaskCount,
    TopicActive,
    TopicReset,
)

SINK = {"connector.class": "FileStreamSink", "file": "/out.txt", "topics": "lines", "tasks.max": "3"}
HOUR_MS = 3_600_000


def new_lifecycles() -> Lifecycles:
    return Lifecycles("kafka-connect", deciding_properties())


def status(time_ms: int, state: str | None, task: int | None = None, trace: str | None = None) -> Status:
    return Status("archive", time_ms, task, state, trace, "127.0.0.1:8083")


def started(tasks: int = 3) -> list[Record]:
    """The records written when a connector is created."""
    return [
        Configured("archive", 1000, SINK),
        status(1010, "RUNNING"),
        TaskCount("archive", 1020, tasks),
        *(status(1030 + task, "RUNNING", task) for task in range(tasks)),
    ]


def updates_from(records: Iterable[Record], lifecycles: Lifecycles | None = None) -> list[RunUpdate]:
    lifecycles = lifecycles or new_lifecycles()
    return [update for record in records for update in lifecycles.apply(record)]


def states(updates: Sequence[RunUpdate]) -> list[str]:
    return [each.state for each in updates]


def ticked(lifecycles: Lifecycles, now_ms: int, workers: Workers | None = None) -> list[RunUpdate]:
    return lifecycles.tick(now_ms, workers, heartbeat_ms=60_000, lost_after_ms=30_000)


def test_one_run_from_start_to_stop_however_many_tasks() -> None:
    updates = updates_from(
        [
            *started(tasks=3),
            TopicActive("archive", 1100, "lines"),
            TaskCount("archive", 2000, 0),
            TargetState("archive", 2010, "STOPPED"),
            status(2020, "STOPPED"),
            status(2030, "UNASSIGNED", 0),
            status(2040, None, 0),
        ]
    )

    assert states(updates) == ["START", "RUNNING", "RUNNING", "RUNNING", "RUNNING", "ABORT"]
    assert len({each.run_id for each in updates}) == 1
    assert (updates[0].time_ms, updates[-1].time_ms, updates[-1].stop_reason) == (1010, 2010, "stopped")
    assert updates[-1].topics == ("lines",)


def test_a_run_that_starts_in_the_millisecond_of_a_failed_one_is_a_new_run() -> None:
    lifecycles = new_lifecycles()
    updates_from([Configured("archive", 1000, SINK), TaskCount("archive", 1000, 1)], lifecycles)

    updates = updates_from([status(1010, "FAILED", trace="no database"), status(1010, "RUNNING", task=0)], lifecycles)

    assert states(updates) == ["START", "FAIL", "START"]
    assert updates[0].run_id == updates[1].run_id != updates[2].run_id
    assert updates[2].time_ms == 1011


def test_a_restart_a_rebalance_and_a_pause_end_nothing() -> None:
    lifecycles = new_lifecycles()
    before = updates_from(started(1), lifecycles)

    updates = updates_from(
        [
            *(status(2000 + n, state) for n, state in enumerate(["UNASSIGNED", "RESTARTING", "RUNNING"])),
            *(status(2010 + n, state, 0) for n, state in enumerate(["UNASSIGNED", "RESTARTING", "RUNNING"])),
            TargetState("archive", 3000, "PAUSED"),
            status(3010, "PAUSED"),
            status(3020, "PAUSED", 0),
            TargetState("archive", 4000, "STARTED"),
            status(4010, "RUNNING"),
            status(4020, "RUNNING", 0),
        ],
        lifecycles,
    )

    assert set(states(updates)) == {"RUNNING"}
    assert {each.run_id for each in updates} == {before[0].run_id}
    assert [each.condition for each in updates].count("PAUSED") == 1


def test_a_connector_that_fails_before_its_first_record_is_reported() -> None:
    updates = updates_from(
        [Configured("archive", 1000, SINK), status(1010, "FAILED", trace="java.net.ConnectException: refused")]
    )

    assert states(updates) == ["START", "FAIL"]
    assert [each.time_ms for each in updates] == [1010, 1010]
    assert updates[1].trace == "java.net.ConnectException: refused"


def test_a_connector_that_fails_before_it_has_tasks_is_one_failed_run() -> None:
    updates = updates_from(
        [
            Configured("archive", 1000, SINK),
            status(1010, "RUNNING"),
            status(1020, "FAILED", trace="java.net.ConnectException: refused"),
            TaskCount("archive", 1030, 1),
            status(1040, "FAILED", 0, "late"),
        ]
    )

    assert states(updates) == ["START", "FAIL"]
    assert (updates[-1].time_ms, updates[-1].trace) == (1020, "java.net.ConnectException: refused")


def test_a_failed_connector_goes_on_while_a_task_runs() -> None:
    lifecycles = new_lifecycles()
    updates_from(started(1), lifecycles)

    connector_failed = updates_from([status(2000, "FAILED", trace="no database")], lifecycles)
    task_failed = updates_from([status(2010, "FAILED", 0, "no database either")], lifecycles)

    assert [(each.state, each.condition) for each in connector_failed] == [("RUNNING", "FAILED")]
    assert [(each.state, each.trace) for each in task_failed] == [("FAIL", "no database")]


def test_a_failed_task_is_reported_and_only_when_all_have_failed_the_run_ends() -> None:
    lifecycles = new_lifecycles()
    updates_from(started(3), lifecycles)

    one_failed = updates_from([status(2000, "FAILED", 1, "java.lang.Error: a")], lifecycles)
    all_of_them = updates_from([status(2010, "FAILED", 0, "b"), status(2020, "FAILED", 2, "c")], lifecycles)

    assert states(one_failed) == ["RUNNING"]
    assert {number: task.state for number, task in one_failed[0].tasks.items()} == {
        0: "RUNNING",
        1: "FAILED",
        2: "RUNNING",
    }
    assert states(all_of_them) == ["RUNNING", "FAIL"]
    assert all_of_them[-1].trace == "b"  # of the first task


def test_a_failed_task_that_is_restarted_alone_starts_a_new_run() -> None:
    lifecycles = new_lifecycles()
    first = updates_from([*started(1), status(2000, "FAILED", 0, "boom")], lifecycles)

    restarted = updates_from([status(3000, "RESTARTING", 0), status(3010, "RUNNING", 0)], lifecycles)

    assert states(first)[-1] == "FAIL"
    assert states(restarted) == ["START"]
    assert restarted[0].run_id != first[0].run_id


def test_another_topic_starts_a_new_run_and_more_tasks_do_not() -> None:
    lifecycles = new_lifecycles()
    updates_from([*started(1), TopicActive("archive", 1100, "lines")], lifecycles)

    more_tasks = updates_from([Configured("archive", 2000, {**SINK, "tasks.max": "9"})], lifecycles)
    other_topic = updates_from(
        [Configured("archive", 3000, {**SINK, "topics": "other"}), status(3010, "UNASSIGNED"), status(3020, "RUNNING")],
        lifecycles,
    )

    assert more_tasks == []
    assert [(each.state, each.stop_reason, each.topics) for each in other_topic] == [
        ("ABORT", "superseded", ("lines",)),
        ("START", None, ()),
    ]


def test_deleting_ends_the_run_and_later_records_start_none() -> None:
    updates = updates_from(
        [
            *started(1),
            Configured("archive", 2000, None),
            status(2010, "UNASSIGNED"),
            status(2020, "UNASSIGNED", 0),
            status(2030, None, 0),
            status(2040, None),
        ]
    )

    assert (updates[-1].state, updates[-1].stop_reason) == ("ABORT", "deleted")


def test_missing_workers_end_runs_after_a_while_and_the_end_is_marked_as_inferred() -> None:
    lifecycles = new_lifecycles()
    updates_from(started(1), lifecycles)

    assert ticked(lifecycles, 40_000, Workers(are_there=False, seen_ms=11_000)) == []
    (lost,) = ticked(lifecycles, 41_000, Workers(are_there=False, seen_ms=11_000))
    back = updates_from([status(90_000, "RUNNING"), status(90_010, "RUNNING", 0)], lifecycles)

    assert (lost.state, lost.stop_reason, lost.time_ms, lost.is_inferred) == ("FAIL", "workers lost", 11_000, True)
    assert states(back)[0] == "START"


def test_a_run_that_started_after_a_worker_was_last_seen_is_not_lost() -> None:
    lifecycles = new_lifecycles()
    updates_from([*(record._replace(time_ms=record.time_ms + 50_000) for record in started(1))], lifecycles)
    before_it = Workers(are_there=False, seen_ms=11_000)  # the group was read before the worker came back

    assert ticked(lifecycles, 55_000, before_it) == []
    assert states(ticked(lifecycles, 90_000, before_it)) == ["FAIL"]


def test_workers_that_unassigned_their_tasks_were_shut_down() -> None:
    lifecycles = new_lifecycles()
    updates_from([*started(1), status(2000, "UNASSIGNED", 0), status(2010, "UNASSIGNED")], lifecycles)

    (ended,) = ticked(lifecycles, 50_000, Workers(are_there=False, seen_ms=2_500))
    later = ticked(lifecycles, 200_000, Workers(are_there=True, seen_ms=200_000, since_ms=60_000))

    assert (ended.state, ended.stop_reason, ended.is_inferred) == ("ABORT", "workers shut down", True)
    assert later == []


def test_without_information_on_workers_no_run_ends() -> None:
    lifecycles = new_lifecycles()
    updates_from(started(1), lifecycles)

    assert states(ticked(lifecycles, HOUR_MS, None)) == ["RUNNING"]  # the heartbeat


def test_a_source_without_tasks_is_complete_unless_it_was_being_stopped() -> None:
    lifecycles = new_lifecycles()
    updates_from(started(1), lifecycles)
    updates_from([TaskCount("archive", 2000, 0)], lifecycles)

    assert ticked(lifecycles, 3000) == []
    (done,) = ticked(lifecycles, 8000)

    assert (done.state, done.time_ms) == ("COMPLETE", 2000)


def test_a_connector_that_never_gets_a_task_is_reported_once() -> None:
    lifecycles = new_lifecycles()
    updates_from([Configured("archive", 1000, SINK), status(1010, "RUNNING")], lifecycles)

    assert ticked(lifecycles, 5000) == []
    (update,) = ticked(lifecycles, 12_000)
    assert (update.state, update.planned_tasks, update.tasks) == ("RUNNING", None, {})
    assert ticked(lifecycles, 13_000) == []


def test_a_status_that_is_read_before_its_configuration_waits_for_it() -> None:
    updates = updates_from([status(1010, "RUNNING"), Configured("archive", 1000, SINK)])

    assert [(each.state, each.time_ms) for each in updates] == [("START", 1010)]


def test_records_that_follow_a_deletion_leave_no_connector() -> None:
    lifecycles = new_lifecycles()

    updates_from([*started(), Configured("archive", 2000, None), status(2010, None), status(2020, None, 0)], lifecycles)
    updates_from([TopicReset("archive", 2030, "lines")], lifecycles)

    assert lifecycles.connectors == {}


def test_a_reset_topic_is_not_reported_until_it_is_active_again() -> None:
    records = [
        *started(1),
        TopicActive("archive", 1100, "old"),
        TopicReset("archive", 1200, "old"),
        TopicActive("archive", 1300, "lines"),
        TopicActive("archive", 1400, "old"),
    ]

    assert [each.topics for each in updates_from(records)[-3:]] == [("old",), ("lines",), ("lines", "old")]


def test_a_reconfigured_sink_by_pattern_keeps_the_topics_that_still_match() -> None:
    sink = {"connector.class": "FileStreamSink", "file": "/out.txt", "topics.regex": "shop\\..*"}
    moved = {**sink, "file": "/other.txt", "topics.regex": "shop\\.o.*"}
    records: list[Record] = [
        Configured("archive", 1000, sink),
        status(1010, "RUNNING"),
        TopicActive("archive", 1100, "shop.orders"),
        TopicActive("archive", 1200, "shop.bids"),
        Configured("archive", 2000, moved),
        status(2010, "RUNNING"),
    ]

    assert [(each.state, each.topics) for each in updates_from(records)[-2:]] == [
        ("ABORT", ("shop.bids", "shop.orders")),
        ("START", ("shop.orders",)),
    ]


def test_no_password_is_stored() -> None:
    secrets = {"connection.url": "jdbc:postgresql://ann:hunter2@db/shop", "connection.password": "hunter2"}
    lifecycles = new_lifecycles()
    updates = updates_from([Configured("archive", 1, {**SINK, **secrets}), status(2, "RUNNING")], lifecycles)

    assert "hunter2" not in repr((updates, lifecycles.connectors))


RECORDS = st.lists(
    st.one_of(
        st.just(SINK).map(lambda p: Configured("archive", 0, p)),
        st.just({**SINK, "topics": "other"}).map(lambda p: Configured("archive", 0, p)),
        st.just(Configured("archive", 0, None)),
        st.integers(0, 3).map(lambda n: TaskCount("archive", 0, n)),
        st.sampled_from(["STARTED", "PAUSED", "STOPPED"]).map(lambda s: TargetState("archive", 0, s)),
        st.builds(
            lambda state, task: status(0, state, task, "trace"),
            st.sampled_from(["RUNNING", "FAILED", "PAUSED", "UNASSIGNED", "RESTARTING", "STOPPED", None]),
            st.sampled_from([None, 0, 1, 2]),
        ),
        st.sampled_from(["lines", "other"]).map(lambda t: TopicActive("archive", 0, t)),
    ),
    max_size=40,
).map(lambda records: [record._replace(time_ms=1000 + 10 * place) for place, record in enumerate(records)])


@given(RECORDS, st.integers(0, 40))
def test_any_records_give_runs_that_start_once_and_end_once_also_after_a_restart(
    records: list[Record], cut: int
) -> None:
    lifecycles = new_lifecycles()
    updates = updates_from(records[:cut], lifecycles)
    updates += updates_from(
        records[cut:], Lifecycles("kafka-connect", deciding_properties(), lifecycles.connectors.values())
    )

    assert updates == updates_from(records)
    assert [each.time_ms for each in updates] == sorted(each.time_ms for each in updates)
    for run in {each.run_id for each in updates}:
        run_states = states([each for each in updates if each.run_id == run])
        assert run_states[0] == "START"
        assert run_states.count("START") == 1
        assert all(state == "RUNNING" for state in run_states[1:-1])


def test_a_tables_snapshot_is_reported_with_the_offsets_that_all_tasks_had_delivered() -> None:
    updates = updates_from(
        [
            *started(2),
            Delivered("archive", 2000, {"orders/0": 10}),
            Delivered("archive", 2010, {"orders/1": 7}),
            Committed("archive", 2020, "c-1", "raw.orders", "11"),
            Delivered("archive", 3000, {"orders/0": 15}),
            Committed("archive", 3010, "c-2", "raw.orders", "12"),
            TargetState("archive", 4000, "STOPPED"),
        ]
    )

    commits = [each.commits["raw.orders"] for each in updates if each.commits]
    assert [(each.state, each.time_ms) for each in updates[-3:]] == [
        ("RUNNING", 2020),
        ("RUNNING", 3010),
        ("ABORT", 4000),
    ]
    assert [commit.snapshot for commit in commits] == ["11", "12", "12"]
    assert [commit.offsets for commit in commits[:2]] == [
        {"orders/0": 10, "orders/1": 7},
        {"orders/0": 15, "orders/1": 7},
    ]


def test_a_commit_of_another_clusters_sink_or_after_the_end_gives_no_update() -> None:
    lifecycles = new_lifecycles()
    updates_from([*started(), TargetState("archive", 2000, "STOPPED")], lifecycles)

    updates = updates_from(
        [Committed("archive", 2010, "c", "t", "1"), Committed("elsewhere", 2010, "c", "t", "2")],
        lifecycles,
    )

    assert updates == []
    assert set(lifecycles.connectors) == {"archive"}


def test_a_connector_whose_tasks_had_all_failed_starts_one_run_when_it_is_reconfigured() -> None:
    lifecycles = new_lifecycles()
    failed = updates_from([*started(2), *(status(2000 + task, "FAILED", task) for task in range(2))], lifecycles)

    updates = updates_from(
        [
            Configured("archive", 3000, {**SINK, "tasks.max": "2", "flush.size": "10"}),
            status(3010, "RUNNING"),
            TaskCount("archive", 3020, 2),
            *(status(3030 + task, "RUNNING", task) for task in range(2)),
        ],
        lifecycles,
    )

    assert states(failed)[-1] == "FAIL"
    assert states(updates) == ["START", "RUNNING", "RUNNING"]


def all_failed(tasks: int = 2) -> list[Record]:
    return [*started(tasks), *(status(2000 + task, "FAILED", task, f"down {task}") for task in range(tasks))]


STILL_FAILED: dict[str, list[Record]] = {
    "the connector alone is restarted": [status(3000, "RESTARTING"), status(3010, "RUNNING")],
    "it is paused and resumed": [
        TargetState("archive", 3000, "PAUSED"),
        status(3005, "PAUSED"),
        TargetState("archive", 4000, "STARTED"),
        status(4010, "RUNNING"),
    ],
    "it is moved to another worker": [status(3000, "UNASSIGNED"), status(3010, "RUNNING")],
    "one task of two is started in vain": [status(3010, "FAILED", 0, "down still")],
}


@pytest.mark.parametrize("records", STILL_FAILED.values(), ids=STILL_FAILED.keys())
def test_a_connector_whose_tasks_have_all_failed_stays_failed_until_a_task_runs(records: list[Record]) -> None:
    lifecycles = new_lifecycles()
    updates_from(all_failed(), lifecycles)

    restarted = updates_from(records, lifecycles)
    heartbeats = ticked(lifecycles, HOUR_MS, Workers(are_there=True, seen_ms=HOUR_MS))
    task_started = updates_from([status(HOUR_MS, "RUNNING", 1)], lifecycles)

    assert restarted + heartbeats == []
    assert states(task_started) == ["START"]


def test_tasks_that_fail_again_after_a_restart_are_a_failed_run_with_the_new_trace() -> None:
    lifecycles = new_lifecycles()
    updates_from(all_failed(), lifecycles)

    updates = updates_from(
        [
            status(3000, "RESTARTING"),
            *(status(3001, "RESTARTING", task) for task in range(2)),
            status(3010, "RUNNING"),
            *(status(3020 + task, "FAILED", task, "down still") for task in range(2)),
        ],
        lifecycles,
    )

    assert states(updates) == ["START", "RUNNING", "FAIL"]
    assert updates[-1].trace == "down still"


def test_tasks_that_fail_again_after_a_restart_of_their_own_are_one_failed_run() -> None:
    lifecycles = new_lifecycles()
    updates_from(all_failed(), lifecycles)

    updates = updates_from([status(3000 + task, "FAILED", task, "down still") for task in range(2)], lifecycles)

    assert states(updates) == ["START", "FAIL"]
    assert updates[-1].trace == "down still"


def test_a_connector_whose_tasks_had_all_failed_is_reported_as_failed_on_first_reading() -> None:
    compacted: list[Record] = [
        Configured("archive", 1000, SINK),
        TaskCount("archive", 1020, 2),
        *(status(2000 + task, "FAILED", task, f"down {task}") for task in range(2)),
        status(3010, "RUNNING"),
    ]
    configured_later = [*compacted[1:4], Configured("archive", 3000, SINK), compacted[4]]

    for records in (compacted, configured_later):
        updates = updates_from(records)

        assert states(updates) == ["START", "FAIL"]
        assert updates[-1].trace == "down 0"


def reconfigured(before: dict[str, str], after: dict[str, str], *topics: str) -> tuple[Lifecycles, list[RunUpdate]]:
    """The updates for a connector that used these topics and gets other settings; Connect reports each topic once."""
    lifecycles = new_lifecycles()
    updates = updates_from(
        [
            Configured("archive", 1000, before),
            status(1010, "RUNNING"),
            *(TopicActive("archive", 1100 + place, topic) for place, topic in enumerate(topics)),
            Configured("archive", 2000, after),
            status(2010, "RUNNING"),
        ],
        lifecycles,
    )
    return lifecycles, updates


ROUTED = {
    "transforms": "r",
    "transforms.r.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.r.regex": "(.*)",
    "transforms.r.replacement": "raw.$1",
}
FILE = {"connector.class": "FileStreamSource", "file": "/in.txt", "topic": "lines"}
DEBEZIUM = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "topic.prefix": "srv",
    "table.include.list": "public.orders",
}
MIRROR = {"connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector", "topics": "orders"}
ANY = {"connector.class": "com.example.Anything", "value.converter": "one"}


@pytest.mark.parametrize(
    ("before", "changes", "topics", "remaining"),
    [
        (ANY, {"value.converter": "other"}, ["views"], ["views"]),
        ({**DEBEZIUM, **ROUTED}, {"table.include.list": "public.orders,public.bids"}, ["orders"], ["orders"]),
        (MIRROR, {"source.cluster.bootstrap.servers": "eu1:9092"}, ["eu.orders"], ["eu.orders"]),
        (SINK, {"file": "/other.txt"}, ["lines"], ["lines"]),
        (SINK, {"topics": "lines,more"}, ["lines"], ["lines"]),
        (SINK, {"topics": "other"}, ["lines"], []),
        ({**SINK, "topics": "a,b"}, {"topics": "b"}, ["a", "b"], ["b"]),
        ({"connector.class": "FileStreamSink", "topics.regex": "a.?"}, {"topics.regex": "ab?"}, ["ab", "ac"], ["ab"]),
        ({"connector.class": "FileStreamSink", "topics.regex": "a"}, {"topics.regex": r"\p{Lower}"}, ["a"], ["a"]),
        (FILE, {"file": "/other.txt"}, ["lines"], ["lines"]),
        (FILE, {"topic": "other"}, ["lines", "dead-letters"], ["dead-letters"]),
        ({**FILE, **ROUTED}, {"file": "/other.txt"}, ["raw.lines"], ["raw.lines"]),
        ({**FILE, **ROUTED}, {"topic": "other"}, ["raw.lines"], []),
        (DEBEZIUM, {"topic.prefix": "shop"}, ["srv.public.orders", "heartbeat"], ["heartbeat"]),
    ],
)
def test_topics_remain_after_a_change_of_settings_unless_it_excludes_them(
    before: dict[str, str], changes: dict[str, str], topics: list[str], remaining: list[str]
) -> None:
    _, updates = reconfigured(before, {**before, **changes}, *topics)

    assert [(each.state, each.topics) for each in updates[-2:]] == [
        ("ABORT", tuple(sorted(topics))),
        ("START", tuple(sorted(remaining))),
    ]


@pytest.mark.parametrize(("before", "setting"), [(SINK, "topics"), (FILE, "topic")])
def test_a_topic_that_is_configured_again_is_reported_again_unless_it_was_reset(
    before: dict[str, str], setting: str
) -> None:
    lifecycles, _ = reconfigured(before, {**before, setting: "other"}, "lines")
    twice = [Configured("archive", 3000, {**before, setting: "third"}), Configured("archive", 4000, before)]

    back = updates_from([*twice, status(4010, "RUNNING")], lifecycles)
    updates_from(
        [Configured("archive", 5000, {**before, setting: "other"}), TopicReset("archive", 5100, "lines")], lifecycles
    )
    reset = updates_from([Configured("archive", 6000, before), status(6010, "RUNNING")], lifecycles)

    assert (back[-1].state, back[-1].topics) == ("START", ("lines",))
    assert (reset[-1].state, reset[-1].topics) == ("START", ())


def test_the_first_reading_of_a_sink_omits_a_topic_of_a_former_configuration() -> None:
    records = [TopicActive("archive", 10, "long ago"), TopicActive("archive", 20, "lines"), *started(1)]

    assert updates_from(records)[0].topics == ("lines",)


def lost(lifecycles: Lifecycles) -> RunUpdate:
    """Report the end of a connector with one task, whose workers are not seen."""
    updates_from([*started(1), TopicActive("archive", 1100, "lines")], lifecycles)
    ticked(lifecycles, 20_000)
    (update,) = ticked(lifecycles, 90_000, Workers(are_there=False, seen_ms=11_000))
    return update


PROOFS: dict[str, list[Record]] = {
    "a task is restarted": [status(100_000, "RESTARTING", 0)],
    "a task fails": [TaskCount("archive", 99_000, 2), status(100_000, "FAILED", 0)],
    "the connector is moved": [status(100_000, "UNASSIGNED")],
    "it is paused": [status(100_000, "PAUSED")],
    "a topic is new": [TopicActive("archive", 100_000, "more")],
    "a table has another snapshot": [Committed("archive", 100_000, "c", "t", "1")],
}


@pytest.mark.parametrize("records", PROOFS.values(), ids=PROOFS.keys())
def test_an_inferred_end_is_retracted_by_any_later_record_of_the_run(records: list[Record]) -> None:
    lifecycles = new_lifecycles()
    end = lost(lifecycles)

    updates = updates_from(records, lifecycles)

    assert end.is_inferred
    assert (updates[0].state, updates[0].is_retraction, updates[0].run_id) == ("RUNNING", True, end.run_id)
    assert [each.is_retraction for each in updates[1:]] == [False] * len(updates[1:])


def test_an_inferred_end_is_later_than_all_earlier_updates() -> None:
    lifecycles = new_lifecycles()
    updates_from(started(1), lifecycles)
    (heartbeat,) = ticked(lifecycles, 70_000, Workers(are_there=True, seen_ms=70_000))
    (later,) = ticked(lifecycles, 140_000, Workers(are_there=True, seen_ms=140_000))

    (end,) = ticked(lifecycles, 180_000, Workers(are_there=False, seen_ms=139_000))

    assert heartbeat.time_ms < later.time_ms < end.time_ms


def test_an_inferred_end_is_retracted_if_workers_are_back_and_restart_nothing() -> None:
    lifecycles = new_lifecycles()
    end = lost(lifecycles)

    soon = ticked(lifecycles, 140_000, Workers(are_there=True, seen_ms=140_000, since_ms=100_000))
    (back,) = ticked(lifecycles, 160_000, Workers(are_there=True, seen_ms=160_000, since_ms=100_000))

    assert soon == []
    assert (back.state, back.is_retraction, back.run_id) == ("RUNNING", True, end.run_id)


def test_an_inferred_end_is_retracted_if_only_a_task_runs_again() -> None:
    lifecycles = new_lifecycles()
    end = lost(lifecycles)
    updates_from([status(100_000, "RUNNING", 0)], lifecycles)

    updates = ticked(lifecycles, 160_000)

    assert [(each.state, each.run_id) for each in updates] == [("RUNNING", end.run_id)]


def test_workers_that_come_back_start_a_new_run_even_if_a_task_is_first() -> None:
    lifecycles = new_lifecycles()
    end = lost(lifecycles)

    updates = updates_from([status(100_000, "RUNNING", 0), status(100_010, "RUNNING")], lifecycles)
    later = ticked(lifecycles, 170_000, Workers(are_there=True, seen_ms=170_000, since_ms=99_000))

    assert states(updates + later) == ["START", "RUNNING"]
    assert end.run_id not in {each.run_id for each in updates + later}


def test_a_run_with_an_inferred_end_gets_its_real_end() -> None:
    lifecycles = new_lifecycles()
    end = lost(lifecycles)

    (stopped,) = updates_from([TargetState("archive", 100_000, "STOPPED"), status(100_010, "STOPPED")], lifecycles)

    assert (stopped.state, stopped.stop_reason, stopped.run_id) == ("ABORT", "stopped", end.run_id)
    assert (stopped.is_inferred, stopped.is_retraction) == (False, True)


def test_of_a_transforms_settings_only_those_that_are_read_are_stored() -> None:
    secrets = {
        "transforms.lineage.schema.registry.basic.auth.user.info": "sr:hunter2",
        "transforms.lineage.producer.sasl.jaas.config": 'PlainLoginModule required password="hunter2";',
        "transforms.mask.replacement": "hunter2",
        "transforms.enc.encryption.key": "hunter2",
        "topic.override.lines.connection.password": "hunter2",
    }
    read = {
        "transforms": "lineage, route,mask,enc",
        "transforms.lineage.type": "headwater.connect.OpenLineageLifecycleSmt",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": "raw\\.(.*?)(\\.v\\d+)?",
        "transforms.route.replacement": "$1",
        "transforms.route.predicate": "some",
        "transforms.mask.type": "org.apache.kafka.connect.transforms.MaskField$Value",
        "transforms.mask.fields": "buyer",
        "transforms.enc.type": "com.example.Encrypt",
        "topic.override.lines.collection": "all_lines",
    }
    lifecycles = new_lifecycles()
    rotated = {name: value.replace("hunter2", "hunter3") for name, value in secrets.items()}

    (start,) = updates_from([Configured("archive", 1, {**SINK, **read, **secrets}), status(2, "RUNNING")], lifecycles)
    updates = updates_from([Configured("archive", 3, {**SINK, **read, **rotated})], lifecycles)

    assert {name: start.properties[name] for name in start.properties if name not in SINK} == read
    assert "hunter2" not in repr(lifecycles.connectors)
    assert updates == []


def test_other_settings_in_an_older_state_are_dropped() -> None:
    secret = {"transforms": "enc", "transforms.enc.type": "com.example.Encrypt", "transforms.enc.key": "hunter2"}
    connector = Connector("archive", {**SINK, **secret})

    lifecycles = Lifecycles("kafka-connect", deciding_properties(), [connector])

    assert "hunter2" not in repr(lifecycles.connectors)
    assert updates_from([Configured("archive", 1, {**SINK, **secret})], lifecycles) == []


def test_a_watcher_that_starts_again_still_knows_which_columns_debezium_changes() -> None:
    masking = {
        "connector.class": "io.debezium.connector.mysql.MySqlConnector",
        "column.mask.hash.v2.SHA-256.with.salt.pepper": "sales.customers.email",
        "column.truncate.to.20.chars": "sales.customers.note",
    }
    created: list[Record] = [Configured("archive", 1, masking), status(2, "RUNNING")]
    before = new_lifecycles()
    (start,) = updates_from(created, before)

    again = Lifecycles("kafka-connect", deciding_properties(), before.connectors.values())
    written_again = updates_from([Configured("archive", 3, masking)], again)
    (failed,) = updates_from([status(4, "FAILED")], again)

    assert written_again == []
    assert (failed.run_id, failed.properties) == (start.run_id, start.properties)
    assert failed.properties["column.mask"] == "sales.customers.email"


def test_heartbeats_go_on_after_the_clock_was_set_back() -> None:
    lifecycles = new_lifecycles()
    updates_from([record._replace(time_ms=record.time_ms + 2 * HOUR_MS) for record in started(1)], lifecycles)
    before = 2 * HOUR_MS + 62_000
    clock = [before, *range(before - HOUR_MS, before - HOUR_MS + 180_000, 1000)]

    updates = [each for now_ms in clock for each in ticked(lifecycles, now_ms)]

    assert states(updates) == ["RUNNING"] * 4
    assert [each.time_ms for each in updates] == [before, before + 1, before + 2, before + 3]
