"""Runs derived from polls of a Flink cluster. States and times are as Flink 2.1.3 reports them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.capture.flink.jobs import Checkpoints, Details, Failure, Figures, Listed
from headwater.capture.flink.lifecycle import Lifecycles, RunUpdate
from headwater.capture.flink.run_ids import run_of_job

JOB = Listed("edff2bd142af505b67ed5c6fa83db9ab", "stats", "RUNNING", 1_000, None, 1_500)
RUN = run_of_job(JOB.id, JOB.started_ms)
COUNTED = Details(Figures(records_in=10, records_out=7, restarts=0), is_stream=True)
CAUSE = Failure("java.lang.ArithmeticException: / by zero", 4_990, "Source: orders -> Calc (1/2) - execution #0")
REFUSED = "http://127.0.0.1:8081: no connection"


def new_lifecycles(*other: Lifecycles) -> Lifecycles:
    """A watcher that has polled an empty cluster, or one that goes on with the state of another."""
    over = other[0].over if other else set[str]()
    runs = [run for each in other for run in each.runs.values()]
    return Lifecycles(runs, over, heartbeat_ms=60_000, lost_after_ms=5_000)


def poll(lifecycles: Lifecycles, now_ms: int, *jobs: Listed, **details: Details) -> list[RunUpdate]:
    """A poll that can read all details that it needs; `details` are by the job's name."""
    needed = lifecycles.wanted(jobs, now_ms)
    read = {job.id: details.get(job.name, COUNTED) for job in jobs if job.id in needed}
    return lifecycles.apply_poll(jobs, read, now_ms)


def states_and_times(updates: Sequence[RunUpdate]) -> list[tuple[str, int]]:
    return [(each.state, each.time_ms) for each in updates]


def ended(state: str, at_ms: int = 5_000) -> Listed:
    return JOB._replace(state=state, ended_ms=at_ms, modified_ms=at_ms)


def watched() -> Lifecycles:
    """A watcher that has seen the job running at 2,000."""
    lifecycles = new_lifecycles()
    poll(lifecycles, 2_000, JOB)
    return lifecycles


def test_a_run_starts_with_its_job_and_has_the_listeners_id() -> None:
    updates = poll(new_lifecycles(), 2_000, JOB)

    assert states_and_times(updates) == [("START", 1_000), ("RUNNING", 2_000)]
    assert {each.run.id for each in updates} == {RUN}
    assert updates[1].run.figures.records_in == 10


def test_a_created_job_has_started_and_is_reported_as_running_once_it_runs() -> None:
    lifecycles = new_lifecycles()

    assert states_and_times(poll(lifecycles, 1_100, JOB._replace(state="CREATED"))) == [("START", 1_000)]
    assert states_and_times(poll(lifecycles, 2_100, JOB)) == [("RUNNING", 2_100)]


def test_a_running_job_is_read_and_reported_once_a_heartbeat() -> None:
    lifecycles = watched()

    quiet = [lifecycles.wanted([JOB], now_ms) for now_ms in range(3_000, 62_000, 1_000)]

    assert quiet == [[]] * 59
    assert states_and_times(poll(lifecycles, 62_000, JOB)) == [("RUNNING", 62_000)]


def test_a_restart_is_reported_even_if_it_happened_between_two_polls() -> None:
    lifecycles = watched()
    restarted = COUNTED._replace(figures=replace(COUNTED.figures, restarts=1), failure=CAUSE)

    (update,) = poll(lifecycles, 3_000, JOB._replace(modified_ms=2_500), stats=restarted)
    later = poll(lifecycles, 4_000, JOB._replace(modified_ms=3_500), stats=restarted)

    assert (update.state, update.run.figures.restarts, update.failure) == ("RUNNING", 1, CAUSE)
    assert later == []


def test_a_running_job_whose_details_cannot_be_read_is_reported_with_the_known_figures() -> None:
    lifecycles = new_lifecycles()

    begun = lifecycles.apply_poll([JOB], {}, 2_000)
    poll(lifecycles, 62_000, JOB)
    (later,) = lifecycles.apply_poll([JOB], {}, 122_000)

    assert states_and_times(begun) == [("START", 1_000), ("RUNNING", 2_000)]
    assert [each.run.figures for each in begun] == [Figures(), Figures()]
    assert (later.state, later.run.figures) == ("RUNNING", COUNTED.figures)


def test_a_task_that_changes_its_state_gives_no_update() -> None:
    assert poll(watched(), 3_000, JOB._replace(modified_ms=2_500)) == []


def test_each_kind_of_end_is_reported_with_flinks_time() -> None:
    with_savepoint = COUNTED._replace(savepoint="file:/sp/savepoint-edff")
    with_cause = COUNTED._replace(failure=CAUSE)
    ends: Mapping[str, tuple[Listed, Details]] = {
        "finished": (ended("FINISHED"), COUNTED),
        "stopped": (ended("FINISHED"), with_savepoint),
        "cancelled": (ended("CANCELED"), COUNTED),
        "failed": (ended("FAILED"), with_cause),
    }

    updates = {kind: poll(watched(), 9_500, job, stats=details) for kind, (job, details) in ends.items()}

    assert {kind: states_and_times(each) for kind, each in updates.items()} == {
        "finished": [("COMPLETE", 5_000)],
        "stopped": [("COMPLETE", 5_000)],
        "cancelled": [("ABORT", 5_000)],
        "failed": [("FAIL", 5_000)],
    }
    assert [each[0].stop_reason for each in updates.values()] == [None, "stopped with a savepoint", "cancelled", None]
    assert (updates["stopped"][0].savepoint, updates["failed"][0].failure) == ("file:/sp/savepoint-edff", CAUSE)


def test_an_end_is_reported_only_when_its_details_are_known_since_flink_caches_responses() -> None:
    stopped, failed = watched(), watched()
    savepoint = COUNTED._replace(savepoint="file:/sp/savepoint-edff")

    early = [poll(stopped, 5_500, ended("FINISHED")), poll(failed, 5_500, ended("FAILED"))]
    (update,) = poll(stopped, 6_500, ended("FINISHED"), stats=savepoint)
    (late,) = poll(failed, 9_500, ended("FAILED"))

    assert early == [[], []]
    assert (update.state, update.stop_reason) == ("COMPLETE", "stopped with a savepoint")
    assert (late.state, late.failure) == ("FAIL", None)


@pytest.mark.parametrize("is_stream", [True, False])
def test_a_failed_job_is_reported_once_its_cause_is_known(is_stream: bool) -> None:
    lifecycles, details = watched(), COUNTED._replace(is_stream=is_stream)

    without = poll(lifecycles, 5_500, ended("FAILED"), stats=details)
    (update,) = poll(lifecycles, 6_500, ended("FAILED"), stats=details._replace(failure=CAUSE))

    assert without == []
    assert (update.state, update.failure) == ("FAIL", CAUSE)


def test_a_job_that_has_ended_is_not_lost_with_its_cluster() -> None:
    lifecycles = watched()
    poll(lifecycles, 5_500, ended("FINISHED"))

    assert states_and_times(lifecycles.apply_failed_poll(REFUSED, 6_500, 6_500)) == [("COMPLETE", 5_000)]
    assert lifecycles.apply_failed_poll(REFUSED, 20_000, 20_000) == []


def test_an_end_is_reported_once_however_long_flink_lists_the_job() -> None:
    lifecycles = watched()

    updates = [poll(lifecycles, now_ms, ended("CANCELED")) for now_ms in (5_500, 6_500, 7_500)]

    assert [len(each) for each in updates] == [1, 0, 0]
    assert lifecycles.runs == {}


def test_a_job_that_started_and_ended_between_two_polls_is_reported_with_both() -> None:
    assert states_and_times(poll(new_lifecycles(), 9_500, ended("FINISHED"))) == [("START", 1_000), ("COMPLETE", 5_000)]


def test_jobs_that_ended_before_the_first_poll_are_not_reported() -> None:
    lifecycles = Lifecycles([], None, heartbeat_ms=60_000, lost_after_ms=5_000)
    other = JOB._replace(id="0" * 32, name="other")

    first = poll(lifecycles, 5_500, ended("FINISHED"), other)
    second = poll(lifecycles, 6_500, ended("FINISHED"), other)

    assert [(each.run.job, each.state) for each in first] == [("other", "START"), ("other", "RUNNING")]
    assert second == []


def test_a_job_that_flink_no_longer_lists_is_forgotten() -> None:
    lifecycles = watched()
    poll(lifecycles, 5_500, ended("FINISHED"))

    poll(lifecycles, 6_500)

    assert lifecycles.over == set()


def test_the_end_of_a_job_waits_for_its_cause_but_not_forever() -> None:
    lifecycles = watched()

    waiting = [lifecycles.apply_poll([ended("FAILED")], {}, now_ms) for now_ms in (5_500, 6_500, 15_000)]
    updates = lifecycles.apply_poll([ended("FAILED")], {}, 15_500)

    assert waiting == [[], [], []]
    assert states_and_times(updates) == [("FAIL", 5_000)]


def test_a_restarted_watcher_reports_the_ends_that_it_missed() -> None:
    before = watched()

    updates = poll(new_lifecycles(before), 9_000, ended("FAILED"), stats=COUNTED._replace(failure=CAUSE))

    assert [(each.state, each.run.id) for each in updates] == [("FAIL", RUN)]


def test_an_unreachable_cluster_ends_its_runs_after_a_while_and_the_end_is_inferred() -> None:
    lifecycles = watched()

    early = [lifecycles.apply_failed_poll(REFUSED, now_ms, now_ms) for now_ms in (3_000, 5_000, 7_000)]
    (update,) = lifecycles.apply_failed_poll(REFUSED, 8_000, 8_000)
    later = [lifecycles.apply_failed_poll(REFUSED, now_ms, now_ms) for now_ms in (9_000, 100_000)]

    assert early == [[], [], []]
    assert (update.state, update.time_ms, update.stop_reason) == ("FAIL", 8_000, "cluster unreachable")
    assert update.silence is not None
    assert "has not answered for 6 s (http://127.0.0.1:8081: no connection)" in update.silence
    assert "or be unreachable from this machine" in update.silence
    assert update.run.figures == COUNTED.figures
    assert later == [[], []]


def test_one_response_between_two_silences_prevents_the_end() -> None:
    lifecycles = watched()
    lifecycles.apply_failed_poll(REFUSED, 3_000, 3_000)
    poll(lifecycles, 6_000, JOB)

    assert lifecycles.apply_failed_poll(REFUSED, 9_000, 9_000) == []


def lost() -> Lifecycles:
    """A watcher that has inferred the run's end at 8,000."""
    lifecycles = watched()
    lifecycles.apply_failed_poll(REFUSED, 3_000, 3_000)
    lifecycles.apply_failed_poll(REFUSED, 8_000, 8_000)
    return lifecycles


def test_a_job_that_reappears_continues_the_same_run() -> None:
    lifecycles = lost()
    new_figures = replace(COUNTED.figures, records_in=30)

    (back,) = poll(lifecycles, 9_000, JOB, stats=COUNTED._replace(figures=new_figures))
    end = poll(lifecycles, 20_000, ended("CANCELED", 19_000))

    assert (back.state, back.run.id, back.is_retraction) == ("RUNNING", RUN, True)
    assert back.run.figures == new_figures
    assert [(each.state, each.run.id, each.is_retraction) for each in end] == [("ABORT", RUN, False)]


def test_a_job_that_another_jobmanager_restarts_continues_the_same_run() -> None:
    taken_up = JOB._replace(state="INITIALIZING", started_ms=8_500, modified_ms=8_500)

    (back,) = poll(lost(), 9_000, taken_up)

    assert (back.state, back.run.id, back.is_retraction) == ("RUNNING", RUN, True)


PROGRAM = JOB._replace(id="0" * 32, name="orders-v1")
"""In application mode all programs may have one id."""
CHECKPOINTED = COUNTED._replace(figures=replace(COUNTED.figures, checkpoints=Checkpoints(7, 0, 0, 0, None, None)))
NO_CHECKPOINT = COUNTED._replace(figures=replace(COUNTED.figures, checkpoints=Checkpoints(0, 0, 0, 0, None, None)))
FIRST_CHECKPOINT = COUNTED._replace(figures=replace(COUNTED.figures, checkpoints=Checkpoints(0, 0, 1, 0, None, None)))


def restored(path: str, *, is_savepoint: bool = False) -> Details:
    checkpoints = Checkpoints(0, 0, 0, 1, None, path, is_savepoint)
    return COUNTED._replace(figures=replace(COUNTED.figures, checkpoints=checkpoints))


def of_program(details: Details = CHECKPOINTED, *, is_lost: bool = True) -> Lifecycles:
    """A watcher of a program; if it is lost, its end was inferred at 8,000."""
    lifecycles = new_lifecycles()
    poll(lifecycles, 2_000, PROGRAM, **{PROGRAM.name: details})
    if is_lost:
        lifecycles.apply_failed_poll(REFUSED, 3_000, 3_000)
        lifecycles.apply_failed_poll(REFUSED, 8_000, 8_000)
    return lifecycles


def states_and_jobs(updates: Sequence[RunUpdate]) -> list[tuple[str, str]]:
    return [(each.state, each.run.job) for each in updates]


def test_another_program_with_the_same_id_is_another_run() -> None:
    lifecycles = of_program()
    other = PROGRAM._replace(name="payments-v7", started_ms=9_000, modified_ms=9_000)

    updates = poll(lifecycles, 10_000, other)
    end = poll(lifecycles, 20_000, other._replace(state="FINISHED", ended_ms=15_000, modified_ms=15_000))

    assert states_and_jobs(updates) == [("START", "payments-v7"), ("RUNNING", "payments-v7")]
    assert [each.is_retraction for each in updates] == [False, False]
    assert states_and_jobs(end) == [("COMPLETE", "payments-v7")]
    assert {each.run.id for each in updates + end} == {run_of_job(PROGRAM.id, 9_000)}
    assert lifecycles.runs == {}


def test_a_program_that_another_replaced_between_two_polls_is_lost() -> None:
    lifecycles = of_program(is_lost=False)

    updates = poll(lifecycles, 4_000, PROGRAM._replace(name="payments-v7", started_ms=3_500))

    assert states_and_jobs(updates) == [("FAIL", "orders-v1"), ("START", "payments-v7"), ("RUNNING", "payments-v7")]
    assert (updates[0].stop_reason, updates[0].time_ms) == ("lost by the cluster", 4_000)


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_program_that_restarted_without_restoring_a_checkpoint_is_another_run(is_lost: bool) -> None:
    lifecycles = of_program(is_lost=is_lost)
    restarted = PROGRAM._replace(started_ms=9_000, modified_ms=9_000)

    early = [
        poll(lifecycles, now_ms, restarted, **{PROGRAM.name: NO_CHECKPOINT}) for now_ms in (10_000, 11_000, 13_000)
    ]
    updates = poll(lifecycles, 14_000, restarted, **{PROGRAM.name: NO_CHECKPOINT})

    assert early == [[], [], []]  # Flink's responses may be older than the restore
    assert states_and_times(updates)[-2:] == [("START", 9_000), ("RUNNING", 14_000)]
    assert [each.state for each in updates[:-2]] == ([] if is_lost else ["FAIL"])
    assert updates[-1].run.id == run_of_job(PROGRAM.id, 9_000)


def test_a_restarted_program_that_checkpoints_and_restored_nothing_is_another_run_at_once() -> None:
    restarted = PROGRAM._replace(started_ms=9_000, modified_ms=9_000)

    updates = poll(of_program(), 10_000, restarted, **{PROGRAM.name: FIRST_CHECKPOINT})

    assert states_and_times(updates) == [("START", 9_000), ("RUNNING", 10_000)]


def test_a_program_that_starts_from_a_savepoint_is_another_run() -> None:
    restarted = PROGRAM._replace(started_ms=9_000, modified_ms=9_000)

    updates = poll(of_program(), 10_000, restarted, **{PROGRAM.name: restored("file:/sp/sp-1", is_savepoint=True)})

    assert states_and_times(updates) == [("START", 9_000), ("RUNNING", 10_000)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (CHECKPOINTED, restored("file:/ckpt/chk-9")),
        (restored("file:/sp/sp-1", is_savepoint=True), restored("file:/sp/sp-1", is_savepoint=True)),
        (NO_CHECKPOINT, NO_CHECKPOINT),
        (COUNTED, COUNTED),
    ],
    ids=["checkpoint", "the savepoint that it began with", "no checkpoint yet", "a batch job"],
)
def test_a_job_that_a_failover_restored_continues_the_same_run(before: Details, after: Details) -> None:
    lifecycles, run_id = of_program(before), run_of_job(PROGRAM.id, PROGRAM.started_ms)
    taken_up = PROGRAM._replace(started_ms=8_500, modified_ms=9_500)

    (back,) = poll(lifecycles, 10_000, taken_up, **{PROGRAM.name: after})
    later = poll(new_lifecycles(lifecycles), 80_000, taken_up, **{PROGRAM.name: CHECKPOINTED})

    assert (back.state, back.run.id, back.is_retraction) == ("RUNNING", run_id, True)
    assert [(each.state, each.run.id) for each in later] == [("RUNNING", run_id)]


def test_a_restore_is_waited_for_until_the_job_runs() -> None:
    lifecycles = of_program()
    taken_up = PROGRAM._replace(started_ms=8_500, state="INITIALIZING")

    early = [
        poll(lifecycles, now_ms, taken_up, **{PROGRAM.name: NO_CHECKPOINT}) for now_ms in range(9_000, 30_000, 3_000)
    ]
    (back,) = poll(
        lifecycles, 30_000, taken_up._replace(state="RUNNING"), **{PROGRAM.name: restored("file:/ckpt/chk-9")}
    )

    assert [updates for updates in early if updates] == []
    assert (back.state, back.is_retraction) == ("RUNNING", True)


def test_a_restarted_job_whose_details_cannot_be_read_continues_the_same_run() -> None:
    lifecycles = of_program()
    taken_up = PROGRAM._replace(started_ms=8_500)

    updates = [lifecycles.apply_poll([taken_up], {}, now_ms) for now_ms in (9_000, 14_000, 19_000)]

    assert [len(each) for each in updates] == [0, 0, 1]
    assert (updates[-1][0].run.id, updates[-1][0].is_retraction) == (run_of_job(PROGRAM.id, PROGRAM.started_ms), True)


def test_a_job_that_ended_while_the_cluster_was_unreachable_gets_that_end() -> None:
    updates = poll(lost(), 20_000, ended("FINISHED", 9_000))

    assert states_and_times(updates) == [("COMPLETE", 9_000)]
    assert [each.is_retraction for each in updates] == [True]


def test_an_end_from_before_an_inferred_one_comes_with_a_newer_report_that_withdraws_its_error() -> None:
    lifecycles = lost()

    updates = poll(lifecycles, 9_000, ended("FINISHED", 4_000))

    assert states_and_times(updates) == [("RUNNING", 8_001), ("COMPLETE", 4_000)]
    assert [(each.is_retraction, each.run.state) for each in updates] == [(True, "FINISHED"), (True, "FINISHED")]
    assert poll(lifecycles, 10_000, ended("FINISHED", 4_000)) == []


def test_a_restarted_watcher_knows_which_ends_were_inferred() -> None:
    lifecycles = new_lifecycles(lost())

    assert lifecycles.apply_failed_poll(REFUSED, 20_000, 20_000) == []
    assert states_and_times(poll(lifecycles, 21_000, JOB)) == [("RUNNING", 21_000)]


def test_the_time_without_a_watcher_does_not_count_as_silence() -> None:
    lifecycles = new_lifecycles(watched())

    assert lifecycles.apply_failed_poll(REFUSED, 100_000, 100_000) == []
    assert states_and_times(lifecycles.apply_failed_poll(REFUSED, 105_000, 105_000)) == [("FAIL", 105_000)]


def test_a_job_that_a_reachable_cluster_does_not_list_is_lost() -> None:
    lifecycles = watched()

    early = poll(lifecycles, 4_000)
    (update,) = poll(lifecycles, 9_000)

    assert early == []
    assert (update.state, update.stop_reason, update.time_ms) == ("FAIL", "lost by the cluster", 9_000)
    assert poll(lifecycles, 10_000) == []


def test_a_job_that_ended_so_long_ago_that_flink_forgot_it_is_not_failed() -> None:
    lifecycles = new_lifecycles(watched())
    two_hours_ms = 7_200_000

    early = poll(lifecycles, two_hours_ms)
    (update,) = poll(lifecycles, two_hours_ms + 5_000)

    assert early == []
    assert (update.state, update.stop_reason) == ("ABORT", "end not seen")
    assert update.silence is not None


def test_two_jobs_with_one_id_are_two_runs() -> None:
    lifecycles = watched()
    poll(lifecycles, 5_500, ended("FINISHED"))

    updates = poll(lifecycles, 7_000, JOB._replace(started_ms=6_000, modified_ms=6_500))

    assert [(each.state, each.run.id) for each in updates] == [
        ("COMPLETE", RUN),
        ("START", run_of_job(JOB.id, 6_000)),
        ("RUNNING", run_of_job(JOB.id, 6_000)),
    ]


LIVING = ["INITIALIZING", "CREATED", "RUNNING", "RESTARTING", "SUSPENDED", "FAILING", "CANCELLING"]
polls = st.lists(st.sampled_from([*LIVING, "FINISHED", "CANCELED", "FAILED", "absent", "silent", "watcher restarted"]))


@given(polls)
def test_any_polls_give_a_run_that_starts_once_and_ends_once_unless_inferred(seen: list[str]) -> None:
    lifecycles, updates = new_lifecycles(), list[RunUpdate]()
    for number, state in enumerate(seen, 1):
        now_ms = number * 3_000
        if state == "watcher restarted":
            lifecycles = new_lifecycles(lifecycles)
        elif state == "silent":
            updates += lifecycles.apply_failed_poll(REFUSED, now_ms, now_ms)
        elif state == "absent":
            updates += poll(lifecycles, now_ms)
        else:
            job = JOB._replace(state=state, modified_ms=now_ms)
            updates += poll(lifecycles, now_ms, job._replace(ended_ms=now_ms if job.is_over else None))
            if job.is_over:
                break

    labels = [f"{each.state}{' inferred' if each.silence else ''}" for each in updates]
    assert labels.count("START") == (1 if updates else 0)
    assert labels[:1] in ([], ["START"])
    assert [label for label in labels[:-1] if label in ("COMPLETE", "FAIL", "ABORT")] == []
    for earlier, later in pairwise(updates):
        assert (earlier.silence is not None) == later.is_retraction
        assert earlier.time_ms < later.time_ms or later.state in ("COMPLETE", "FAIL", "ABORT")
