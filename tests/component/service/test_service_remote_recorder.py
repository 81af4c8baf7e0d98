"""Events parsed and stored in a separate process: the same results as in the service, even if the process fails."""

import asyncio
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar, cast

import httpx
import pytest
import uvloop

from headwater.errors import ForbiddenError, InvalidEventError, SetupError, UnavailableError, UntrustedEventError
from headwater.model.facts import Content
from headwater.service.ingest.reading import Posted, Trust
from headwater.service.ingest.recording import Answer, Answered, Group, LocalRecorder, Recorder
from headwater.service.ingest.recording_messages import End, packed
from headwater.service.ingest.recording_process import Recording
from headwater.service.ingest.remote_recorder import RemoteRecorder
from headwater.signing.keys import NodeKey
from headwater.signing.merkle import Growth
from headwater.signing.sign import sign_event
from headwater.store.entries import Entry, Stored
from headwater.store.retiring import retire
from headwater.store.sqlite import SqliteConnection, SqliteStore
from headwater.store.store import Known, News
from headwater.store.tree import ReadTree
from tests.support.app import dataset, event, schema
from tests.support.service import Service, eventually, running

KEY = NodeKey.from_seed("edge-7", bytes(range(32)))
TRUST = Trust({KEY.key_id: KEY.public_key}, is_required=False)
LATE_US = 10**15
_MANY = 1_600
"""More events than a process can have stored by the time a test sees the first of them, however busy the machine is."""

OutcomeT = TypeVar("OutcomeT")


def run(number: int) -> bytes:
    return json.dumps(event(run={"runId": f"run-{number}"}, outputs=[dataset("orders", orders=schema("id"))])).encode()


def log() -> list[bytes]:
    """Signed and unsigned events, one by an unknown key, some that are invalid, and two repeated ones."""
    stranger = NodeKey.from_seed("edge-8", bytes(32))
    signed = [sign_event(run(number), KEY) for number in range(40)]
    unsigned = map(run, range(41, 80))
    return [*signed, sign_event(run(40), stranger), b"", b"{", b'{"eventTime": 5}', *unsigned, signed[3], run(41)]


def posted(events: Sequence[bytes]) -> list[Posted]:
    return [(raw, number, bytes(16)) for number, raw in enumerate(events)]


class Learned:
    """A learner that records what it learns."""

    def __init__(self) -> None:
        self.stored: list[Stored] = []
        self.verdicts: list[str] = []
        self.groups: list[list[Stored | Exception]] = []

    def learn_group(self, group: Group, growth: Growth) -> list[Answered]:
        self.verdicts += [verdict for verdict, _ in group]
        self.groups.append([outcome for _, outcome in group])
        return [self._learned(outcome, growth) for _, outcome in group]

    def learn_news(self, news: Sequence[Stored]) -> None:
        self.stored += news

    def _learned(self, outcome: Stored | Exception, growth: Growth) -> Answered:
        if isinstance(outcome, Exception):
            return outcome
        self.stored += [outcome] if outcome.is_new else []
        return Answer(outcome.log_index, outcome.is_new, growth)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        yield store


def recording(recorder: Recorder, use: Callable[[], Awaitable[OutcomeT]], learned: Learned | None = None) -> OutcomeT:
    """The result of using a recorder, started before and stopped after, on the event loop that the service uses."""

    async def used() -> OutcomeT:
        recorder.open()
        try:
            recorder.start(learned or Learned())
            while recorder.fault is not None:  # noqa: ASYNC110  only a test waits for it
                await asyncio.sleep(0.01)
            return await use()
        finally:
            await recorder.stop()

    return uvloop.run(used())


async def one_by_one(recorder: Recorder, events: Sequence[bytes]) -> list[Answered]:
    """All recorded concurrently, each in a request of its own."""
    answers = await asyncio.gather(*(recorder.record([each], None) for each in posted(events)))
    return [answer for (answer,) in answers]


def comparable(answers: Sequence[Answered]) -> list[object]:
    return [each[:2] if isinstance(each, Answer) else (type(each), str(each)) for each in answers]


def places(answers: Sequence[Answered]) -> list[int]:
    return [each.log_index for each in answers if isinstance(each, Answer)]


@pytest.mark.parametrize("together", [1, 16])
@pytest.mark.parametrize("is_required", [False, True])
def test_a_separate_process_records_the_same_as_the_service_itself(
    store: SqliteStore, tmp_path: Path, together: int, is_required: bool
) -> None:
    trust = Trust(TRUST.keys, is_required)
    events = posted(log())
    groups = [events[at : at + together] for at in range(0, len(events), together)]

    async def by(recorder: Recorder) -> list[Answered]:
        return [
            each for answers in await asyncio.gather(*(recorder.record(a, None) for a in groups)) for each in answers
        ]

    learned_locally, learned_remotely = Learned(), Learned()
    with closing(SqliteStore(tmp_path / "here.db")) as other:
        local = LocalRecorder(other, trust)
        local_answers = recording(local, lambda: by(local), learned_locally)
        local_facts = {fact.key: fact for fact in other.facts()}
    remote = RemoteRecorder(store, trust)
    remote_answers = recording(remote, lambda: by(remote), learned_remotely)

    assert comparable(remote_answers) == comparable(local_answers)
    assert learned_remotely.stored == learned_locally.stored
    assert learned_remotely.verdicts == learned_locally.verdicts
    with closing(SqliteStore(tmp_path / "headwater.db", lock=os.open(tmp_path, os.O_RDONLY))) as after:
        assert {fact.key: fact for fact in after.facts()} == local_facts
    kinds = [type(each) for each in remote_answers]
    assert kinds.count(InvalidEventError) == 2
    assert kinds.count(UntrustedEventError) == (41 if is_required else 0)


@pytest.mark.parametrize("kind", [LocalRecorder, RemoteRecorder])
def test_an_event_that_causes_an_unexpected_error_is_refused_alone(
    store: SqliteStore, kind: Callable[[SqliteStore, Trust], Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    never = cast(int, "never")  # no valid time: a fault of ours, which only one key triggers
    faulty = Trust(TRUST.keys, is_required=False, revoked_us={KEY.key_id: never})
    poison = sign_event(run(0), KEY)

    async def posted_again() -> list[Sequence[Answered]]:
        recorder.set_trust(faulty)
        return [
            await recorder.record(posted([run(1), poison, run(2)]), None),
            await one_by_one(recorder, [poison, run(3)]),
        ]

    recorder = kind(store, TRUST)
    answers = [answer for some in recording(recorder, posted_again) for answer in some]

    assert [type(each) for each in answers] == [Answer, InvalidEventError, Answer, InvalidEventError, Answer]
    assert all(
        not each.is_retriable and "internal error" in str(each)
        for each in answers
        if isinstance(each, InvalidEventError)
    )
    assert places(answers) == [0, 1, 2]
    assert kind is RemoteRecorder or "TypeError" in caplog.text


def test_changed_trust_applies_from_the_next_event_on(store: SqliteStore) -> None:
    recorder, learned = RemoteRecorder(store, Trust({}, is_required=False)), Learned()

    async def trusted_meanwhile() -> None:
        first = recorder.record(posted([sign_event(run(1), KEY)]), None)
        recorder.set_trust(TRUST)
        await asyncio.gather(first, recorder.record(posted([sign_event(run(2), KEY)]), None))

    recording(recorder, trusted_meanwhile, learned)

    assert learned.verdicts == ["unknown-key", "ok"]


def test_an_event_that_its_sender_may_not_send_is_not_stored(store: SqliteStore) -> None:
    recorder, learned = RemoteRecorder(store, TRUST), Learned()
    checked: list[Entry] = []

    def why_not(entry: Entry) -> ForbiddenError | None:
        checked.append(entry)
        if entry.run_id == "run-3":
            raise ZeroDivisionError
        return ForbiddenError("not yours") if entry.run_id == "run-2" else None

    async def recorded() -> Sequence[Answered]:
        return await recorder.record(posted([run(1), b"{", run(2), run(3), run(4)]), why_not)

    answers = recording(recorder, recorded, learned)

    assert [type(each).__name__ for each in answers] == [
        "Answer",
        "MalformedJsonError",
        "ForbiddenError",
        "ZeroDivisionError",
        "Answer",
    ]
    assert [entry.run_id for entry in checked] == ["run-1", "run-2", "run-3", "run-4"]
    assert [stored.log_index for stored in learned.stored] == [0, 1]


def test_a_reader_sees_the_facts_of_what_was_acknowledged(store: SqliteStore) -> None:
    recorder, learned = RemoteRecorder(store, TRUST), Learned()

    async def read() -> list[object]:
        found: list[object] = []
        for number in range(5):
            await recorder.record(posted([run(number)]), None)
            contents = [fact for fact in learned.stored[-1].facts if isinstance(fact, Content)]
            found.append(all(recorder.store.content(fact.digest) for fact in contents))
            found.append(sum(fact.key[1:] == (f"run-{number}",) for fact in recorder.store.graph_facts()))
            with closing(recorder.store.another_reader()) as other:
                found.append(other.folded())
        return found

    found = recording(recorder, read, learned)

    assert found[::3] == [True] * 5
    assert all(found[1::3])
    assert found[2::3] == [1, 2, 3, 4, 5]


def test_a_killed_process_loses_nothing_that_was_acknowledged(store: SqliteStore, tmp_path: Path) -> None:
    recorder, learned = RemoteRecorder(store, TRUST), Learned()
    events = [run(number) for number in range(_MANY)]

    async def killed_meanwhile() -> list[Answered]:
        recording_all = asyncio.create_task(one_by_one(recorder, events))
        while len(learned.stored) < 50:  # noqa: ASYNC110  kill it in the middle
            await asyncio.sleep(0)
        assert recorder.pid is not None
        os.kill(recorder.pid, signal.SIGKILL)
        first = await recording_all
        while recorder.fault is not None:  # noqa: ASYNC110  only a test waits for it
            await asyncio.sleep(0.01)
        return first + await one_by_one(recorder, events)

    answers = recording(recorder, killed_meanwhile, learned)

    first, again = answers[:_MANY], answers[_MANY:]
    assert {type(each) for each in first} == {Answer, UnavailableError}
    assert places(again) == places(first) + list(range(len(places(first)), _MANY))
    assert [stored.log_index for stored in learned.stored] == list(range(_MANY))
    assert all(stored.facts for stored in learned.stored)


def test_of_large_events_few_are_learned_at_once(store: SqliteStore) -> None:
    recorder, learned = RemoteRecorder(store, TRUST), Learned()
    inputs = [dataset(f"t{number}") for number in range(1_000)]
    events = [json.dumps(event(run={"runId": f"run-{number}"}, inputs=inputs)).encode() for number in range(40)]

    answers = recording(recorder, lambda: recorder.record(posted(events), None), learned)

    assert places(answers) == list(range(40))
    assert max(map(len, learned.groups)) == 10


def test_a_message_to_a_process_that_has_just_ended_is_not_sent_to_the_next(store: SqliteStore) -> None:
    recorder, learned = RemoteRecorder(store, TRUST), Learned()
    unexpected: list[object] = []

    async def record_meanwhile() -> tuple[list[Answered], list[Answered]]:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unexpected.append(context["message"]))
        assert recorder.pid is not None
        os.kill(recorder.pid, signal.SIGKILL)
        requests = []
        while recorder.fault is None:
            requests.append(recorder.record(posted([run(0)]), None))
            await asyncio.sleep(0)
        refused = [answer for (answer,) in await asyncio.gather(*requests)]
        while recorder.fault is not None:  # noqa: ASYNC110  only a test waits for it
            await asyncio.sleep(0.01)
        return refused, await one_by_one(recorder, [run(1)])

    refused, then = recording(recorder, record_meanwhile, learned)

    assert {type(each) for each in refused} == {UnavailableError}
    assert places(then) == [0]
    assert unexpected == []


def test_a_restarted_process_gets_the_head_of_the_tree(store: SqliteStore) -> None:
    recorder = RemoteRecorder(store, TRUST)

    async def recorded() -> Known:
        await one_by_one(recorder, log())
        return recorder.store.known

    known = recording(recorder, recorded)

    with closing(SqliteConnection(store._path)) as connection:
        assert known.head == ReadTree(connection.rows).frontier(known.size)
    assert known.size == 80


def test_a_process_that_does_not_answer_is_killed_and_replaced(store: SqliteStore) -> None:
    recorder, learned = RemoteRecorder(store, TRUST, stuck_s=8), Learned()  # three seconds after that is a fault

    async def stopped_meanwhile() -> tuple[list[Answered], str | None, list[Answered]]:
        await one_by_one(recorder, [run(0)])
        assert recorder.pid is not None
        os.kill(recorder.pid, signal.SIGSTOP)
        request = asyncio.create_task(one_by_one(recorder, [run(1)]))
        while (fault := recorder.fault) is None:  # noqa: ASYNC110  only a test waits for it
            await asyncio.sleep(0.01)
        unanswered = await request
        while recorder.fault is not None:  # noqa: ASYNC110  only a test waits for it
            await asyncio.sleep(0.01)
        return unanswered, fault, await one_by_one(recorder, [run(1)])

    (unanswered,), fault, again = recording(recorder, stopped_meanwhile, learned)

    assert isinstance(unanswered, UnavailableError)
    assert fault == "the process that stores events does not answer; try again in a second"
    assert places(again) == [1]


def test_a_process_without_requests_may_be_silent_and_a_late_answer_is_no_fault(store: SqliteStore) -> None:
    recorder = RemoteRecorder(store, TRUST, stuck_s=3)

    async def stopped_for_a_while() -> tuple[int | None, int | None]:
        first = recorder.pid
        assert first is not None
        os.kill(first, signal.SIGSTOP)
        with pytest.raises(UnavailableError, match="does not answer"):
            recorder.store_facts()
        begin_s = time.monotonic()
        with pytest.raises(UnavailableError, match="does not answer"):
            recorder.store_facts()
        assert time.monotonic() - begin_s < 3  # for which the first waited
        os.kill(first, signal.SIGCONT)
        await asyncio.sleep(5)
        recorder.store_facts()
        return first, recorder.pid

    first, last = recording(recorder, stopped_for_a_while)

    assert last == first


def test_a_process_that_cannot_be_restarted_is_reported_once_and_retried_less_often(
    store: SqliteStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = RemoteRecorder(store, TRUST)

    async def damaged_meanwhile() -> str | None:
        assert recorder.pid is not None
        os.kill(recorder.pid, signal.SIGKILL)
        damage(tmp_path)
        await asyncio.sleep(10)
        return recorder.fault

    fault = recording(recorder, damaged_meanwhile)

    assert fault is not None
    assert "cannot open the database" in fault
    faults = [vars(record)["fault"] for record in caplog.records if "is being restarted" in record.message]
    assert faults == [None, fault]


def test_raw_bytes_move_to_segments_while_a_process_stores(store: SqliteStore) -> None:
    recorder = RemoteRecorder(store, TRUST)

    async def moved() -> tuple[int, list[bytes]]:
        await one_by_one(recorder, log())
        recorder.store_facts()
        count = await asyncio.to_thread(retire, recorder.store, LATE_US, each=32)
        return count, [logged.raw for logged in recorder.store.logged(range(80))]

    count, raws = recording(recorder, moved)

    assert count == 64
    assert sorted(raws) == sorted({raw for raw in log() if raw.startswith(b'{"event') and len(raw) > 20})


def damage(folder: Path) -> None:
    for path in folder.glob("headwater.db*"):
        path.write_bytes(b"no database" * 1_000)


def test_a_process_that_cannot_open_the_store_reports_why(store: SqliteStore, tmp_path: Path) -> None:
    recorder = RemoteRecorder(store, TRUST)
    damage(tmp_path)

    with pytest.raises(SetupError, match="cannot open the database"):
        recording(recorder, lambda: asyncio.sleep(0))


# In a service


def recorders_of(pid: int) -> list[int]:
    """The processes that store events for a service."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            is_recorder = b"recording_process" in (folder / "cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        if parent == pid and is_recorder:
            found.append(int(folder.name))
    return found


def test_a_service_restarts_the_process_and_goes_on(tmp_path: Path) -> None:
    with running(tmp_path, "--beside") as service:
        first = recorders_of(service.pid)
        assert set(statuses_of_batch(service, log())) == {200, 201, 400, 422}

        os.kill(first[0], signal.SIGKILL)

        assert eventually(lambda: recorders_of(service.pid) not in ([], first) and is_well(service))
        statuses = statuses_of_batch(service, [*log(), run(100)])
        assert statuses.count(200) == 82
        assert statuses[-1] == 201


def test_the_process_of_a_killed_service_ends_and_the_next_service_gets_the_store(tmp_path: Path) -> None:
    with running(tmp_path, "--beside") as service:
        (left,) = recorders_of(service.pid)
        statuses_of_batch(service, log())
        service.kill()
        service.start()

        assert eventually(lambda: not Path(f"/proc/{left}").exists())
        assert statuses_of_batch(service, log()).count(200) == 82


def is_well(service: Service) -> bool:
    return httpx.get(f"{service.url}/healthz").status_code == 200


def statuses_of_batch(service: Service, events: Sequence[bytes]) -> list[int]:
    body = b"\n".join(raw or b"0" for raw in events)
    response = httpx.post(
        f"{service.url}/api/v1/lineage/batch",
        content=body,
        headers={"content-type": "application/x-ndjson"},
        timeout=120,
    )
    return [each["status"] for each in response.json()["results"]]


class Woken(SqliteStore):
    """A store whose database is written to by others all the time."""

    def watch(self, news: News, wake: Callable[[], None]) -> None:
        super().watch(news, wake)
        for _ in range(100_000):
            wake()


def test_waking_a_busy_process_does_not_wait_for_it(tmp_path: Path) -> None:
    (ours, events), (our_questions, questions) = socket.socketpair(), socket.socketpair()
    with closing(Woken(tmp_path / "headwater.db")) as store, ours, events, our_questions, questions:
        ours.sendall(packed(End()))
        working = threading.Thread(target=Recording(events, questions, store).work, daemon=True)

        working.start()
        working.join(20)

        assert not working.is_alive()
