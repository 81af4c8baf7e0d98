"""What records of Connect's topics mean for runs. The sequences are those that Kafka Connect 4.3.1 writes."""

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


def lives() -> Lifecycles:
    return Lifecycles("kafka-connect", deciding_properties())


def status(time_ms: int, state: str | None, task: int | None = None, trace: str | None = None) -> Status:
    return Status("archive", time_ms, task, state, trace, "127.0.0.1:8083")


def started(tasks: int = 3) -> list[Record]:
    """What is written when a connector is created."""
    return [
        Configured("archive", 1000, SINK),
        status(1010, "RUNNING"),
        TaskCount("archive", 1020, tasks),
        *(status(1030 + task, "RUNNING", task) for task in range(tasks)),
    ]


def told_by(records: Iterable[Record], by: Lifecycles | None = None) -> list[RunUpdate]:
    by = by or lives()
    return [told for record in records for told in by.apply(record)]


def states(told: Sequence[RunUpdate]) -> list[str]:
    return [each.state for each in told]


def passed(by: Lifecycles, now_ms: int, workers: Workers | None = None) -> list[RunUpdate]:
    return by.tick(now_ms, workers, heartbeat_ms=60_000, lost_after_ms=30_000)


def test_one_run_from_start_to_stop_however_many_tasks() -> None:
    told = told_by(
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

    assert states(told) == ["START", "RUNNING", "RUNNING", "RUNNING", "RUNNING", "ABORT"]
    assert len({each.run_id for each in told}) == 1
    assert (told[0].time_ms, told[-1].time_ms, told[-1].stop_reason) == (1010, 2010, "stopped")
    assert told[-1].topics == ("lines",)


def test_a_run_that_begins_in_the_millisecond_of_one_that_failed_is_another() -> None:
    by = lives()
    told_by([Configured("archive", 1000, SINK), TaskCount("archive", 1000, 1)], by)

    told = told_by([status(1010, "FAILED", trace="no database"), status(1010, "RUNNING", task=0)], by)

    assert states(told) == ["START", "FAIL", "START"]
    assert told[0].run_id == told[1].run_id != told[2].run_id
    assert told[2].time_ms == 1011


def test_a_restart_a_rebalance_and_a_pause_end_nothing() -> None:
    by = lives()
    before = told_by(started(1), by)

    told = told_by(
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
        by,
    )

    assert set(states(told)) == {"RUNNING"}
    assert {each.run_id for each in told} == {before[0].run_id}
    assert [each.condition for each in told].count("PAUSED") == 1


def test_a_connector_that_fails_before_its_first_record_is_told() -> None:
    told = told_by(
        [Configured("archive", 1000, SINK), status(1010, "FAILED", trace="java.net.ConnectException: refused")]
    )

    assert states(told) == ["START", "FAIL"]
    assert [each.time_ms for each in told] == [1010, 1010]
    assert told[1].trace == "java.net.ConnectException: refused"


def test_one_task_of_three_that_fails_is_told_and_only_all_of_them_end_the_run() -> None:
    by = lives()
    told_by(started(3), by)

    one = told_by([status(2000, "FAILED", 1, "java.lang.Error: a")], by)
    all_of_them = told_by([status(2010, "FAILED", 0, "b"), status(2020, "FAILED", 2, "c")], by)

    assert states(one) == ["RUNNING"]
    assert {number: task.state for number, task in one[0].tasks.items()} == {0: "RUNNING", 1: "FAILED", 2: "RUNNING"}
    assert states(all_of_them) == ["RUNNING", "FAIL"]
    assert all_of_them[-1].trace == "b"  # of the first task


def test_a_failed_task_that_is_restarted_alone_begins_another_run() -> None:
    by = lives()
    first = told_by([*started(1), status(2000, "FAILED", 0, "boom")], by)

    again = told_by([status(3000, "RESTARTING", 0), status(3010, "RUNNING", 0)], by)

    assert states(first)[-1] == "FAIL"
    assert states(again) == ["START"]
    assert again[0].run_id != first[0].run_id


def test_another_topic_is_another_run_and_more_tasks_are_not() -> None:
    by = lives()
    told_by([*started(1), TopicActive("archive", 1100, "lines")], by)

    more_tasks = told_by([Configured("archive", 2000, {**SINK, "tasks.max": "9"})], by)
    other_topic = told_by(
        [Configured("archive", 3000, {**SINK, "topics": "other"}), status(3010, "UNASSIGNED"), status(3020, "RUNNING")],
        by,
    )

    assert more_tasks == []
    assert [(each.state, each.stop_reason, each.topics) for each in other_topic] == [
        ("ABORT", "superseded", ("lines",)),
        ("START", None, ()),
    ]


def test_deleting_ends_the_run_and_what_is_said_afterwards_begins_none() -> None:
    told = told_by(
        [
            *started(1),
            Configured("archive", 2000, None),
            status(2010, "UNASSIGNED"),
            status(2020, "UNASSIGNED", 0),
            status(2030, None, 0),
            status(2040, None),
        ]
    )

    assert (told[-1].state, told[-1].stop_reason) == ("ABORT", "deleted")


def test_workers_that_are_gone_end_runs_only_after_a_while_and_say_that_it_is_inferred() -> None:
    by = lives()
    told_by(started(1), by)

    assert passed(by, 40_000, Workers(are_there=False, seen_ms=11_000)) == []
    (lost,) = passed(by, 41_000, Workers(are_there=False, seen_ms=11_000))
    back = told_by([status(90_000, "RUNNING"), status(90_010, "RUNNING", 0)], by)

    assert (lost.state, lost.stop_reason, lost.time_ms, lost.is_inferred) == ("FAIL", "workers lost", 11_000, True)
    assert states(back)[0] == "START"


def test_a_run_that_started_since_a_worker_was_seen_last_is_not_taken_for_lost() -> None:
    by = lives()
    told_by([*(record._replace(time_ms=record.time_ms + 50_000) for record in started(1))], by)
    before_it = Workers(are_there=False, seen_ms=11_000)  # the group was looked at before the worker came back

    assert passed(by, 55_000, before_it) == []
    assert states(passed(by, 90_000, before_it)) == ["FAIL"]


def test_workers_that_said_goodbye_were_shut_down() -> None:
    by = lives()
    told_by([*started(1), status(2000, "UNASSIGNED", 0), status(2010, "UNASSIGNED")], by)

    (ended,) = passed(by, 50_000, Workers(are_there=False, seen_ms=2_500))

    assert (ended.state, ended.stop_reason, ended.is_inferred) == ("ABORT", "workers shut down", True)


def test_a_worker_that_nobody_can_see_ends_nothing() -> None:
    by = lives()
    told_by(started(1), by)

    assert states(passed(by, HOUR_MS, None)) == ["RUNNING"]  # the heartbeat


def test_a_source_without_any_task_left_is_done_unless_it_was_being_stopped() -> None:
    by = lives()
    told_by(started(1), by)
    told_by([TaskCount("archive", 2000, 0)], by)

    assert passed(by, 3000) == []
    (done,) = passed(by, 8000)

    assert (done.state, done.time_ms) == ("COMPLETE", 2000)


def test_a_connector_that_never_gets_a_task_is_told_once() -> None:
    by = lives()
    told_by([Configured("archive", 1000, SINK), status(1010, "RUNNING")], by)

    assert passed(by, 5000) == []
    (told,) = passed(by, 12_000)
    assert (told.state, told.planned_tasks, told.tasks) == ("RUNNING", None, {})
    assert passed(by, 13_000) == []


def test_a_status_that_is_read_before_its_configuration_waits_for_it() -> None:
    told = told_by([status(1010, "RUNNING"), Configured("archive", 1000, SINK)])

    assert [(each.state, each.time_ms) for each in told] == [("START", 1010)]


def test_what_is_cleared_away_behind_a_deleted_connector_leaves_nothing() -> None:
    by = lives()

    told_by([*started(), Configured("archive", 2000, None), status(2010, None), status(2020, None, 0)], by)
    told_by([TopicReset("archive", 2030, "lines")], by)

    assert by.connectors == {}


def test_a_topic_that_was_reset_is_told_no_more_until_it_flows_again() -> None:
    records = [
        *started(1),
        TopicActive("archive", 1100, "old"),
        TopicReset("archive", 1200, "old"),
        TopicActive("archive", 1300, "lines"),
        TopicActive("archive", 1400, "old"),
    ]

    assert [each.topics for each in told_by(records)[-3:]] == [("old",), ("lines",), ("lines", "old")]


def test_a_sink_by_pattern_keeps_the_topics_that_still_fit_when_it_is_configured_anew() -> None:
    sink = {"connector.class": "FileStreamSink", "file": "/out.txt", "topics.regex": "shop\\..*"}
    moved = {**sink, "file": "/other.txt", "topics.regex": "shop\\.o.*"}
    records = [
        Configured("archive", 1000, sink),
        status(1010, "RUNNING"),
        TopicActive("archive", 1100, "shop.orders"),
        TopicActive("archive", 1200, "shop.bids"),
        Configured("archive", 2000, moved),
        status(2010, "RUNNING"),
    ]

    assert [(each.state, each.topics) for each in told_by(records)[-2:]] == [
        ("ABORT", ("shop.bids", "shop.orders")),
        ("START", ("shop.orders",)),
    ]


def test_no_password_is_kept() -> None:
    secrets = {"connection.url": "jdbc:postgresql://ann:hunter2@db/shop", "connection.password": "hunter2"}
    by = lives()
    told = told_by([Configured("archive", 1, {**SINK, **secrets}), status(2, "RUNNING")], by)

    assert "hunter2" not in repr((told, by.connectors))


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
def test_whatever_is_written_each_run_starts_once_ends_once_and_is_told_the_same_again(
    records: list[Record], cut: int
) -> None:
    by = lives()
    told = told_by(records[:cut], by)
    told += told_by(records[cut:], Lifecycles("kafka-connect", deciding_properties(), by.connectors.values()))

    assert told == told_by(records)
    assert [each.time_ms for each in told] == sorted(each.time_ms for each in told)
    for run in {each.run_id for each in told}:
        own = states([each for each in told if each.run_id == run])
        assert own[0] == "START"
        assert own.count("START") == 1
        assert all(state == "RUNNING" for state in own[1:-1])


def test_a_tables_snapshot_joins_the_run_with_the_offsets_that_every_task_had_delivered() -> None:
    told = told_by(
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

    commits = [each.commits["raw.orders"] for each in told if each.commits]
    assert [(each.state, each.time_ms) for each in told[-3:]] == [("RUNNING", 2020), ("RUNNING", 3010), ("ABORT", 4000)]
    assert [commit.snapshot for commit in commits] == ["11", "12", "12"]
    assert [commit.offsets for commit in commits[:2]] == [
        {"orders/0": 10, "orders/1": 7},
        {"orders/0": 15, "orders/1": 7},
    ]


def test_a_commit_of_another_clusters_sink_or_of_a_run_that_is_over_tells_nothing() -> None:
    by = lives()
    told_by([*started(), TargetState("archive", 2000, "STOPPED")], by)

    told = told_by(
        [Committed("archive", 2010, "c", "t", "1"), Committed("elsewhere", 2010, "c", "t", "2")],
        by,
    )

    assert told == []
    assert set(by.connectors) == {"archive"}


def test_a_connector_of_which_every_task_had_failed_begins_one_run_when_it_is_mended() -> None:
    by = lives()
    failed = told_by([*started(2), *(status(2000 + task, "FAILED", task) for task in range(2))], by)

    told = told_by(
        [
            Configured("archive", 3000, {**SINK, "tasks.max": "2", "flush.size": "10"}),
            status(3010, "RUNNING"),
            TaskCount("archive", 3020, 2),
            *(status(3030 + task, "RUNNING", task) for task in range(2)),
        ],
        by,
    )

    assert states(failed)[-1] == "FAIL"
    assert states(told) == ["START", "RUNNING", "RUNNING"]


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


@pytest.mark.parametrize("happens", STILL_FAILED.values(), ids=STILL_FAILED.keys())
def test_a_connector_of_which_every_task_has_failed_stays_failed_until_a_task_is_started(happens: list[Record]) -> None:
    by = lives()
    told_by(all_failed(), by)

    again = told_by(happens, by)
    heartbeats = passed(by, HOUR_MS, Workers(are_there=True, seen_ms=HOUR_MS))
    mended = told_by([status(HOUR_MS, "RUNNING", 1)], by)

    assert again + heartbeats == []
    assert states(mended) == ["START"]


def test_tasks_that_are_restarted_in_vain_are_a_run_that_failed_with_the_new_trace() -> None:
    by = lives()
    told_by(all_failed(), by)

    told = told_by(
        [
            status(3000, "RESTARTING"),
            *(status(3001, "RESTARTING", task) for task in range(2)),
            status(3010, "RUNNING"),
            *(status(3020 + task, "FAILED", task, "down still") for task in range(2)),
        ],
        by,
    )

    assert states(told) == ["START", "RUNNING", "FAIL"]
    assert told[-1].trace == "down still"


def test_failed_tasks_that_are_restarted_alone_and_in_vain_are_one_run_that_failed() -> None:
    by = lives()
    told_by(all_failed(), by)

    told = told_by([status(3000 + task, "FAILED", task, "down still") for task in range(2)], by)

    assert states(told) == ["START", "FAIL"]
    assert told[-1].trace == "down still"


def test_a_first_look_at_a_connector_whose_tasks_had_all_failed_tells_that() -> None:
    compacted = [
        Configured("archive", 1000, SINK),
        TaskCount("archive", 1020, 2),
        *(status(2000 + task, "FAILED", task, f"down {task}") for task in range(2)),
        status(3010, "RUNNING"),
    ]
    configured_later = [*compacted[1:4], Configured("archive", 3000, SINK), compacted[4]]

    for records in (compacted, configured_later):
        told = told_by(records)

        assert states(told) == ["START", "FAIL"]
        assert told[-1].trace == "down 0"


def configured_anew(before: dict[str, str], after: dict[str, str], *topics: str) -> tuple[Lifecycles, list[RunUpdate]]:
    """What is told of a connector that had to do with these topics and gets other settings; Connect tells each once."""
    by = lives()
    told = told_by(
        [
            Configured("archive", 1000, before),
            status(1010, "RUNNING"),
            *(TopicActive("archive", 1100 + place, topic) for place, topic in enumerate(topics)),
            Configured("archive", 2000, after),
            status(2010, "RUNNING"),
        ],
        by,
    )
    return by, told


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
    ("before", "changes", "topics", "kept"),
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
def test_topics_outlast_a_change_of_settings_unless_these_exclude_them(
    before: dict[str, str], changes: dict[str, str], topics: list[str], kept: list[str]
) -> None:
    _, told = configured_anew(before, {**before, **changes}, *topics)

    assert [(each.state, each.topics) for each in told[-2:]] == [
        ("ABORT", tuple(sorted(topics))),
        ("START", tuple(sorted(kept))),
    ]


@pytest.mark.parametrize(("before", "named"), [(SINK, "topics"), (FILE, "topic")])
def test_a_topic_that_is_named_again_counts_again_and_one_that_was_reset_does_not(
    before: dict[str, str], named: str
) -> None:
    by, _ = configured_anew(before, {**before, named: "other"}, "lines")
    twice = [Configured("archive", 3000, {**before, named: "third"}), Configured("archive", 4000, before)]

    back = told_by([*twice, status(4010, "RUNNING")], by)
    told_by([Configured("archive", 5000, {**before, named: "other"}), TopicReset("archive", 5100, "lines")], by)
    reset = told_by([Configured("archive", 6000, before), status(6010, "RUNNING")], by)

    assert (back[-1].state, back[-1].topics) == ("START", ("lines",))
    assert (reset[-1].state, reset[-1].topics) == ("START", ())


def test_a_first_look_at_a_sink_leaves_out_a_topic_that_it_had_long_ago() -> None:
    records = [TopicActive("archive", 10, "long ago"), TopicActive("archive", 20, "lines"), *started(1)]

    assert told_by(records)[0].topics == ("lines",)


def lost(by: Lifecycles) -> RunUpdate:
    """A connector with one task, of whose workers nothing is seen."""
    told_by([*started(1), TopicActive("archive", 1100, "lines")], by)
    passed(by, 20_000)
    (told,) = passed(by, 90_000, Workers(are_there=False, seen_ms=11_000))
    return told


PROOFS: dict[str, list[Record]] = {
    "a task is restarted": [status(100_000, "RESTARTING", 0)],
    "a task fails": [TaskCount("archive", 99_000, 2), status(100_000, "FAILED", 0)],
    "the connector is moved": [status(100_000, "UNASSIGNED")],
    "it is paused": [status(100_000, "PAUSED")],
    "a topic is new": [TopicActive("archive", 100_000, "more")],
    "a table has another snapshot": [Committed("archive", 100_000, "c", "t", "1")],
}


@pytest.mark.parametrize("heard", PROOFS.values(), ids=PROOFS.keys())
def test_an_end_that_was_inferred_is_taken_back_by_whatever_is_heard_of_the_run(heard: list[Record]) -> None:
    by = lives()
    end = lost(by)

    told = told_by(heard, by)

    assert end.is_inferred
    assert (told[0].state, told[0].is_retraction, told[0].run_id) == ("RUNNING", True, end.run_id)
    assert [each.is_retraction for each in told[1:]] == [False] * len(told[1:])


def test_an_end_that_was_inferred_is_newer_than_what_was_told_before() -> None:
    by = lives()
    told_by(started(1), by)
    (heartbeat,) = passed(by, 70_000, Workers(are_there=True, seen_ms=70_000))
    (later,) = passed(by, 140_000, Workers(are_there=True, seen_ms=140_000))

    (end,) = passed(by, 180_000, Workers(are_there=False, seen_ms=139_000))

    assert heartbeat.time_ms < later.time_ms < end.time_ms


def test_workers_that_are_there_and_start_nothing_anew_were_never_gone() -> None:
    by = lives()
    end = lost(by)

    soon = passed(by, 140_000, Workers(are_there=True, seen_ms=140_000, since_ms=100_000))
    (back,) = passed(by, 160_000, Workers(are_there=True, seen_ms=160_000, since_ms=100_000))

    assert soon == []
    assert (back.state, back.is_retraction, back.run_id) == ("RUNNING", True, end.run_id)


def test_a_task_that_runs_again_though_its_connector_was_not_started_shows_the_same() -> None:
    by = lives()
    end = lost(by)
    told_by([status(100_000, "RUNNING", 0)], by)

    told = passed(by, 160_000)

    assert [(each.state, each.run_id) for each in told] == [("RUNNING", end.run_id)]


def test_workers_that_come_back_begin_another_run_also_if_a_task_is_there_first() -> None:
    by = lives()
    end = lost(by)

    told = told_by([status(100_000, "RUNNING", 0), status(100_010, "RUNNING")], by)
    later = passed(by, 170_000, Workers(are_there=True, seen_ms=170_000, since_ms=99_000))

    assert states(told + later) == ["START", "RUNNING"]
    assert end.run_id not in {each.run_id for each in told + later}


def test_a_run_whose_end_was_inferred_gets_its_true_end() -> None:
    by = lives()
    end = lost(by)

    (stopped,) = told_by([TargetState("archive", 100_000, "STOPPED"), status(100_010, "STOPPED")], by)

    assert (stopped.state, stopped.stop_reason, stopped.run_id) == ("ABORT", "stopped", end.run_id)
    assert (stopped.is_inferred, stopped.is_retraction) == (False, True)


def test_no_setting_of_a_transform_is_kept_but_those_that_are_read() -> None:
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
    by = lives()
    rotated = {name: value.replace("hunter2", "hunter3") for name, value in secrets.items()}

    (start,) = told_by([Configured("archive", 1, {**SINK, **read, **secrets}), status(2, "RUNNING")], by)
    told = told_by([Configured("archive", 3, {**SINK, **read, **rotated})], by)

    assert {name: start.properties[name] for name in start.properties if name not in SINK} == read
    assert "hunter2" not in repr(by.connectors)
    assert told == []


def test_what_an_older_state_holds_beyond_that_is_dropped() -> None:
    secret = {"transforms": "enc", "transforms.enc.type": "com.example.Encrypt", "transforms.enc.key": "hunter2"}
    known = Connector("archive", {**SINK, **secret})

    by = Lifecycles("kafka-connect", deciding_properties(), [known])

    assert "hunter2" not in repr(by.connectors)
    assert told_by([Configured("archive", 1, {**SINK, **secret})], by) == []


def test_heartbeats_go_on_where_the_clock_was_put_back() -> None:
    by = lives()
    told_by([record._replace(time_ms=record.time_ms + 2 * HOUR_MS) for record in started(1)], by)
    before = 2 * HOUR_MS + 62_000
    clock = [before, *range(before - HOUR_MS, before - HOUR_MS + 180_000, 1000)]

    told = [each for now_ms in clock for each in passed(by, now_ms)]

    assert states(told) == ["RUNNING"] * 4
    assert [each.time_ms for each in told] == [before, before + 1, before + 2, before + 3]
