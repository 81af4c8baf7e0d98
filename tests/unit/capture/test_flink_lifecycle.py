"""What looks at a Flink cluster mean for runs. States and times go as Flink 2.1.3 gives them."""

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


def lives(*known: Lifecycles) -> Lifecycles:
    """A watcher that has looked at an empty cluster before, or one that goes on with what another one knew."""
    runs, over = ([*known[0].runs.values()], known[0].over) if known else ([], [])
    return Lifecycles(runs, over, heartbeat_ms=60_000, lost_after_ms=5_000)


def look(by: Lifecycles, now_ms: int, *jobs: Listed, **details: Details) -> list[RunUpdate]:
    """A look at which every detail that is wanted can be had; `details` by the job's name."""
    wanted = by.wanted(jobs, now_ms)
    found = {job.id: details.get(job.name, COUNTED) for job in jobs if job.id in wanted}
    return by.apply_poll(jobs, found, now_ms)


def said(told: Sequence[RunUpdate]) -> list[tuple[str, int]]:
    return [(each.state, each.time_ms) for each in told]


def ended(state: str, at_ms: int = 5_000) -> Listed:
    return JOB._replace(state=state, ended_ms=at_ms, modified_ms=at_ms)


def watched() -> Lifecycles:
    """A watcher that has seen the job run since 2,000."""
    by = lives()
    look(by, 2_000, JOB)
    return by


def test_a_run_starts_with_its_job_and_has_the_listeners_id() -> None:
    told = look(lives(), 2_000, JOB)

    assert said(told) == [("START", 1_000), ("RUNNING", 2_000)]
    assert {each.run.id for each in told} == {RUN}
    assert told[1].run.figures.records_in == 10


def test_a_job_that_still_gets_its_tasks_has_started_and_is_told_to_run_when_it_does() -> None:
    by = lives()

    assert said(look(by, 1_100, JOB._replace(state="CREATED"))) == [("START", 1_000)]
    assert said(look(by, 2_100, JOB)) == [("RUNNING", 2_100)]


def test_a_run_that_goes_on_is_told_every_heartbeat_and_asked_for_no_more_often() -> None:
    by = watched()

    quiet = [by.wanted([JOB], now_ms) for now_ms in range(3_000, 62_000, 1_000)]

    assert quiet == [[]] * 59
    assert said(look(by, 62_000, JOB)) == [("RUNNING", 62_000)]


def test_a_restart_is_told_also_where_it_was_too_quick_to_be_seen() -> None:
    by = watched()
    restarted = COUNTED._replace(figures=replace(COUNTED.figures, restarts=1), failure=CAUSE)

    (told,) = look(by, 3_000, JOB._replace(modified_ms=2_500), stats=restarted)

    assert (told.state, told.run.figures.restarts, told.failure) == ("RUNNING", 1, CAUSE)


def test_tasks_that_change_their_state_are_no_news() -> None:
    assert look(watched(), 3_000, JOB._replace(modified_ms=2_500)) == []


def test_each_way_to_end_is_told_apart_with_the_time_that_flink_gives() -> None:
    with_savepoint = COUNTED._replace(savepoint="file:/sp/savepoint-edff")
    with_cause = COUNTED._replace(failure=CAUSE)
    ends: Mapping[str, tuple[Listed, Details]] = {
        "finished": (ended("FINISHED"), COUNTED),
        "stopped": (ended("FINISHED"), with_savepoint),
        "cancelled": (ended("CANCELED"), COUNTED),
        "failed": (ended("FAILED"), with_cause),
    }

    told = {how: look(watched(), 9_500, job, stats=details) for how, (job, details) in ends.items()}

    assert {how: said(each) for how, each in told.items()} == {
        "finished": [("COMPLETE", 5_000)],
        "stopped": [("COMPLETE", 5_000)],
        "cancelled": [("ABORT", 5_000)],
        "failed": [("FAIL", 5_000)],
    }
    assert [each[0].stop_reason for each in told.values()] == [None, "stopped with a savepoint", "cancelled", None]
    assert (told["stopped"][0].savepoint, told["failed"][0].failure) == ("file:/sp/savepoint-edff", CAUSE)


def test_how_a_job_ended_is_waited_for_since_flink_keeps_its_answers_a_while() -> None:
    stopped, failed = watched(), watched()
    savepoint = COUNTED._replace(savepoint="file:/sp/savepoint-edff")

    early = [look(stopped, 5_500, ended("FINISHED")), look(failed, 5_500, ended("FAILED"))]
    (told,) = look(stopped, 6_500, ended("FINISHED"), stats=savepoint)
    (late,) = look(failed, 9_500, ended("FAILED"))

    assert early == [[], []]
    assert (told.state, told.stop_reason) == ("COMPLETE", "stopped with a savepoint")
    assert (late.state, late.failure) == ("FAIL", None)


def test_a_job_that_is_known_to_be_over_is_not_lost_with_its_cluster() -> None:
    by = watched()
    look(by, 5_500, ended("FINISHED"))

    assert said(by.apply_failed_poll(REFUSED, 6_500, 6_500)) == [("COMPLETE", 5_000)]
    assert by.apply_failed_poll(REFUSED, 20_000, 20_000) == []


def test_an_end_is_told_once_however_long_flink_lists_the_job() -> None:
    by = watched()

    told = [look(by, now_ms, ended("CANCELED")) for now_ms in (5_500, 6_500, 7_500)]

    assert [len(each) for each in told] == [1, 0, 0]
    assert by.runs == {}


def test_a_job_that_came_and_went_between_two_looks_is_told_whole() -> None:
    assert said(look(lives(), 9_500, ended("FINISHED"))) == [("START", 1_000), ("COMPLETE", 5_000)]


def test_jobs_that_were_over_before_anybody_watched_are_not_told() -> None:
    by = Lifecycles([], None, heartbeat_ms=60_000, lost_after_ms=5_000)
    other = JOB._replace(id="0" * 32, name="other")

    first = look(by, 5_500, ended("FINISHED"), other)
    second = look(by, 6_500, ended("FINISHED"), other)

    assert [(each.run.job, each.state) for each in first] == [("other", "START"), ("other", "RUNNING")]
    assert second == []


def test_what_flink_lists_no_more_is_forgotten() -> None:
    by = watched()
    look(by, 5_500, ended("FINISHED"))

    look(by, 6_500)

    assert by.over == set()


def test_the_end_of_a_job_waits_for_its_cause_but_not_for_ever() -> None:
    by = watched()

    silent = [by.apply_poll([ended("FAILED")], {}, now_ms) for now_ms in (5_500, 6_500, 15_000)]
    told = by.apply_poll([ended("FAILED")], {}, 15_500)

    assert silent == [[], [], []]
    assert said(told) == [("FAIL", 5_000)]


def test_a_watcher_that_is_started_again_goes_on_and_tells_what_it_missed() -> None:
    before = watched()

    told = look(lives(before), 9_000, ended("FAILED"), stats=COUNTED._replace(failure=CAUSE))

    assert [(each.state, each.run.id) for each in told] == [("FAIL", RUN)]


def test_a_cluster_that_does_not_answer_ends_its_runs_after_a_while_and_says_that_it_is_inferred() -> None:
    by = watched()

    early = [by.apply_failed_poll(REFUSED, now_ms, now_ms) for now_ms in (3_000, 5_000, 7_000)]
    (told,) = by.apply_failed_poll(REFUSED, 8_000, 8_000)
    later = [by.apply_failed_poll(REFUSED, now_ms, now_ms) for now_ms in (9_000, 100_000)]

    assert early == [[], [], []]
    assert (told.state, told.time_ms, told.stop_reason) == ("FAIL", 8_000, "cluster unreachable")
    assert told.silence is not None
    assert "has not answered for 6 s (http://127.0.0.1:8081: no connection)" in told.silence
    assert "or be unreachable from this machine" in told.silence
    assert told.run.figures == COUNTED.figures
    assert later == [[], []]


def test_one_answer_between_two_silences_ends_nothing() -> None:
    by = watched()
    by.apply_failed_poll(REFUSED, 3_000, 3_000)
    look(by, 6_000, JOB)

    assert by.apply_failed_poll(REFUSED, 9_000, 9_000) == []


def lost() -> Lifecycles:
    """A watcher that has told the run's end by inference, at 8,000."""
    by = watched()
    by.apply_failed_poll(REFUSED, 3_000, 3_000)
    by.apply_failed_poll(REFUSED, 8_000, 8_000)
    return by


def test_a_job_that_is_there_again_goes_on_in_the_same_run() -> None:
    by = lost()

    (back,) = look(by, 9_000, JOB)
    end = look(by, 20_000, ended("CANCELED", 19_000))

    assert (back.state, back.run.id, back.is_retraction) == ("RUNNING", RUN, True)
    assert [(each.state, each.run.id, each.is_retraction) for each in end] == [("ABORT", RUN, False)]


def test_a_job_that_another_jobmanager_took_up_goes_on_in_the_same_run_though_it_starts_anew_there() -> None:
    taken_up = JOB._replace(state="INITIALIZING", started_ms=8_500, modified_ms=8_500)

    (back,) = look(lost(), 9_000, taken_up)

    assert (back.state, back.run.id, back.is_retraction) == ("RUNNING", RUN, True)


PROGRAM = JOB._replace(id="0" * 32, name="orders-v1")
"""In application mode all programs may have one id."""
CHECKPOINTED = COUNTED._replace(figures=replace(COUNTED.figures, checkpoints=Checkpoints(7, 0, 0, 0, None, None)))
AFRESH = COUNTED._replace(figures=replace(COUNTED.figures, checkpoints=Checkpoints(0, 0, 0, 0, None, None)))
FIRST_CHECKPOINT = COUNTED._replace(figures=replace(COUNTED.figures, checkpoints=Checkpoints(0, 0, 1, 0, None, None)))


def restored(path: str, *, is_savepoint: bool = False) -> Details:
    checkpoints = Checkpoints(0, 0, 0, 1, None, path, is_savepoint)
    return COUNTED._replace(figures=replace(COUNTED.figures, checkpoints=checkpoints))


def of_program(details: Details = CHECKPOINTED, *, is_lost: bool = True) -> Lifecycles:
    """A watcher of a program, which has told its end by inference at 8,000 if it is lost."""
    by = lives()
    look(by, 2_000, PROGRAM, **{PROGRAM.name: details})
    if is_lost:
        by.apply_failed_poll(REFUSED, 3_000, 3_000)
        by.apply_failed_poll(REFUSED, 8_000, 8_000)
    return by


def named(told: Sequence[RunUpdate]) -> list[tuple[str, str]]:
    return [(each.state, each.run.job) for each in told]


def test_another_program_that_has_the_id_by_now_is_a_run_of_its_own() -> None:
    by = of_program()
    other = PROGRAM._replace(name="payments-v7", started_ms=9_000, modified_ms=9_000)

    told = look(by, 10_000, other)
    end = look(by, 20_000, other._replace(state="FINISHED", ended_ms=15_000, modified_ms=15_000))

    assert named(told) == [("START", "payments-v7"), ("RUNNING", "payments-v7")]
    assert [each.is_retraction for each in told] == [False, False]
    assert named(end) == [("COMPLETE", "payments-v7")]
    assert {each.run.id for each in told + end} == {run_of_job(PROGRAM.id, 9_000)}
    assert by.runs == {}


def test_a_program_that_another_replaced_between_two_looks_is_lost() -> None:
    by = of_program(is_lost=False)

    told = look(by, 4_000, PROGRAM._replace(name="payments-v7", started_ms=3_500))

    assert named(told) == [("FAIL", "orders-v1"), ("START", "payments-v7"), ("RUNNING", "payments-v7")]
    assert (told[0].stop_reason, told[0].time_ms) == ("lost by the cluster", 4_000)


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_program_that_began_anew_without_what_a_failover_restores_is_another_run(is_lost: bool) -> None:
    by = of_program(is_lost=is_lost)
    anew = PROGRAM._replace(started_ms=9_000, modified_ms=9_000)

    early = [look(by, now_ms, anew, **{PROGRAM.name: AFRESH}) for now_ms in (10_000, 11_000, 13_000)]
    told = look(by, 14_000, anew, **{PROGRAM.name: AFRESH})

    assert early == [[], [], []]  # Flink's answers may be older than what it restored
    assert said(told)[-2:] == [("START", 9_000), ("RUNNING", 14_000)]
    assert [each.state for each in told[:-2]] == ([] if is_lost else ["FAIL"])
    assert told[-1].run.id == run_of_job(PROGRAM.id, 9_000)


def test_a_program_that_takes_checkpoints_and_has_restored_none_is_another_run_at_once() -> None:
    anew = PROGRAM._replace(started_ms=9_000, modified_ms=9_000)

    told = look(of_program(), 10_000, anew, **{PROGRAM.name: FIRST_CHECKPOINT})

    assert said(told) == [("START", 9_000), ("RUNNING", 10_000)]


def test_a_program_that_begins_with_somebodys_savepoint_is_another_run() -> None:
    anew = PROGRAM._replace(started_ms=9_000, modified_ms=9_000)

    told = look(of_program(), 10_000, anew, **{PROGRAM.name: restored("file:/sp/sp-1", is_savepoint=True)})

    assert said(told) == [("START", 9_000), ("RUNNING", 10_000)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (CHECKPOINTED, restored("file:/ckpt/chk-9")),
        (restored("file:/sp/sp-1", is_savepoint=True), restored("file:/sp/sp-1", is_savepoint=True)),
        (AFRESH, AFRESH),
        (COUNTED, COUNTED),
    ],
    ids=["checkpoint", "the savepoint that it began with", "no checkpoint yet", "a batch job"],
)
def test_a_job_that_a_failover_restored_goes_on_in_the_same_run(before: Details, after: Details) -> None:
    by, run_id = of_program(before), run_of_job(PROGRAM.id, PROGRAM.started_ms)
    taken_up = PROGRAM._replace(started_ms=8_500, modified_ms=9_500)

    (back,) = look(by, 10_000, taken_up, **{PROGRAM.name: after})
    later = look(lives(by), 80_000, taken_up, **{PROGRAM.name: CHECKPOINTED})

    assert (back.state, back.run.id, back.is_retraction) == ("RUNNING", run_id, True)
    assert [(each.state, each.run.id) for each in later] == [("RUNNING", run_id)]


def test_what_a_failover_restores_is_waited_for_until_the_job_runs() -> None:
    by = of_program()
    taken_up = PROGRAM._replace(started_ms=8_500, state="INITIALIZING")

    early = [look(by, now_ms, taken_up, **{PROGRAM.name: AFRESH}) for now_ms in range(9_000, 30_000, 3_000)]
    (back,) = look(by, 30_000, taken_up._replace(state="RUNNING"), **{PROGRAM.name: restored("file:/ckpt/chk-9")})

    assert [told for told in early if told] == []
    assert (back.state, back.is_retraction) == ("RUNNING", True)


def test_a_job_whose_details_cannot_be_read_counts_as_taken_up_in_the_end() -> None:
    by = of_program()
    taken_up = PROGRAM._replace(started_ms=8_500)

    told = [by.apply_poll([taken_up], {}, now_ms) for now_ms in (9_000, 14_000, 19_000)]

    assert [len(each) for each in told] == [0, 0, 1]
    assert (told[-1][0].run.id, told[-1][0].is_retraction) == (run_of_job(PROGRAM.id, PROGRAM.started_ms), True)


def test_a_job_that_came_to_its_end_in_the_silence_has_that_end() -> None:
    (told,) = look(lost(), 9_000, ended("FINISHED", 4_000))

    assert (told.state, told.time_ms, told.is_retraction) == ("COMPLETE", 4_000, True)


def test_a_watcher_that_is_started_again_knows_which_ends_were_inferred() -> None:
    by = lives(lost())

    assert by.apply_failed_poll(REFUSED, 20_000, 20_000) == []
    assert said(look(by, 21_000, JOB)) == [("RUNNING", 21_000)]


def test_what_was_not_seen_while_nobody_watched_is_no_silence() -> None:
    by = lives(watched())

    assert by.apply_failed_poll(REFUSED, 100_000, 100_000) == []
    assert said(by.apply_failed_poll(REFUSED, 105_000, 105_000)) == [("FAIL", 105_000)]


def test_a_cluster_that_came_back_without_the_job_has_lost_it() -> None:
    by = watched()

    early = look(by, 4_000)
    (told,) = look(by, 9_000)

    assert early == []
    assert (told.state, told.stop_reason, told.time_ms) == ("FAIL", "lost by the cluster", 9_000)
    assert look(by, 10_000) == []


def test_a_job_that_ended_so_long_ago_that_flink_has_forgotten_it_is_not_called_failed() -> None:
    by = lives(watched())
    two_hours_ms = 7_200_000

    early = look(by, two_hours_ms)
    (told,) = look(by, two_hours_ms + 5_000)

    assert early == []
    assert (told.state, told.stop_reason) == ("ABORT", "end not seen")
    assert told.silence is not None


def test_two_jobs_with_one_id_are_two_runs() -> None:
    by = watched()
    look(by, 5_500, ended("FINISHED"))

    told = look(by, 7_000, JOB._replace(started_ms=6_000, modified_ms=6_500))

    assert [(each.state, each.run.id) for each in told] == [
        ("COMPLETE", RUN),
        ("START", run_of_job(JOB.id, 6_000)),
        ("RUNNING", run_of_job(JOB.id, 6_000)),
    ]


LIVING = ["INITIALIZING", "CREATED", "RUNNING", "RESTARTING", "SUSPENDED", "FAILING", "CANCELLING"]
looks = st.lists(st.sampled_from([*LIVING, "FINISHED", "CANCELED", "FAILED", "absent", "silent", "watcher anew"]))


@given(looks)
def test_whatever_is_seen_a_run_starts_once_and_ends_once_by_its_own_word(seen: list[str]) -> None:
    by, told = lives(), list[RunUpdate]()
    for number, state in enumerate(seen, 1):
        now_ms = number * 3_000
        if state == "watcher anew":
            by = lives(by)
        elif state == "silent":
            told += by.apply_failed_poll(REFUSED, now_ms, now_ms)
        elif state == "absent":
            told += look(by, now_ms)
        else:
            job = JOB._replace(state=state, modified_ms=now_ms)
            told += look(by, now_ms, job._replace(ended_ms=now_ms if job.is_over else None))
            if job.is_over:
                break

    words = [f"{each.state}{' inferred' if each.silence else ''}" for each in told]
    assert words.count("START") == (1 if told else 0)
    assert words[:1] in ([], ["START"])
    assert [word for word in words[:-1] if word in ("COMPLETE", "FAIL", "ABORT")] == []
    for one, after in pairwise(told):
        assert (one.silence is not None) == after.is_retraction
        assert one.time_ms < after.time_ms or after.state in ("COMPLETE", "FAIL", "ABORT")
