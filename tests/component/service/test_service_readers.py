"""Events read in processes of their own: the same entries in the same order, whatever becomes of the processes."""

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidEventError, UntrustedEventError
from headwater.service.readers import Readers
from headwater.service.reading import Refusal, Trust, read
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from headwater.store.entries import Entry
from tests.support.app import dataset, event, schema
from tests.support.service import Service, eventually, running

KEY = NodeKey.from_seed("edge-7", bytes(range(32)))
TRUST = Trust({KEY.key_id: KEY.public_key}, is_required=False)


def run(number: int) -> bytes:
    return json.dumps(event(run={"runId": f"run-{number}"}, outputs=[dataset("orders", orders=schema("id"))])).encode()


SALT = bytes(16)


def log() -> list[bytes]:
    """Signed and unsigned events, one of somebody unknown, and some that are none."""
    stranger = NodeKey.from_seed("edge-8", bytes(32))
    signed = [sign_event(run(number), KEY) for number in range(40)]
    return [*signed, sign_event(run(40), stranger), b"", b"{", b'{"eventTime": 5}', *map(run, range(41, 80))]


async def read_by(readers: Readers, events: Sequence[bytes], disturb: bool = False) -> list[Entry | Refusal]:
    """Read the events one by one, all asked for at once, in processes; with `disturb`, these are killed meanwhile."""
    readers.start()
    while not all(reader.is_alive for reader in readers.processes):  # noqa: ASYNC110  only a test waits for it
        await asyncio.sleep(0.01)
    asked = [asyncio.create_task(readers.read([(raw, number, SALT)])) for number, raw in enumerate(events)]
    order: list[int] = []
    for number, task in enumerate(asked):
        task.add_done_callback(lambda _, number=number: order.append(number))
    await asyncio.sleep(0)
    if disturb:
        for pid in readers_of(os.getpid()):
            os.kill(pid, signal.SIGKILL)
    answers = [entry for answer in await asyncio.gather(*asked) for entry in answer]
    assert order == sorted(order)
    await readers.stop()
    return answers


async def read_while_the_process_stands_still(readers: Readers) -> tuple[list[bool], list[Entry | Refusal]]:
    """Whether an event is read that comes alone while nothing else is to be done, and one that does not; then both."""
    readers.start()
    while not all(reader.is_alive for reader in readers.processes):  # noqa: ASYNC110  only a test waits for it
        await asyncio.sleep(0.01)
    (process,) = readers_of(os.getpid())
    os.kill(process, signal.SIGSTOP)
    asked = []
    for is_quiet in (True, False):
        asked.append(asyncio.create_task(readers.read([(run(len(asked)), len(asked), SALT)], is_quiet=is_quiet)))
        await asyncio.sleep(0.1)
    done = [task.done() for task in asked]
    os.kill(process, signal.SIGCONT)
    answers = [entry for answer in await asyncio.gather(*asked) for entry in answer]
    await readers.stop()
    return done, answers


def readers_of(pid: int) -> list[int]:
    """The processes that read for a service."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            is_reader = b"reading_process" in (folder / "cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        if parent == pid and is_reader:
            found.append(int(folder.name))
    return found


def comparable(answers: Sequence[Entry | Refusal]) -> list[object]:
    return [(type(each), str(each)) if isinstance(each, Exception) else each for each in answers]


def here(events: Sequence[bytes], trust: Trust) -> list[object]:
    return comparable([read((raw, number, SALT), trust) for number, raw in enumerate(events)])


def test_processes_read_what_would_be_read_here_in_the_order_that_was_asked_for() -> None:
    answers = asyncio.run(read_by(Readers(TRUST, 2), log()))

    assert comparable(answers) == here(log(), TRUST)
    verdicts = [each.verdict for each in answers if isinstance(each, Entry)]
    assert verdicts == ["ok"] * 40 + ["unknown-key"] + ["unsigned"] * 39
    assert [type(each) for each in answers[41:44]].count(InvalidEventError) == 1


def test_an_event_is_read_here_only_if_it_comes_alone_while_nothing_else_is_to_be_done() -> None:
    done, answers = asyncio.run(read_while_the_process_stands_still(Readers(TRUST, 1)))

    assert done == [True, False]
    assert comparable(answers) == here([run(0), run(1)], TRUST)


def test_whom_to_trust_is_known_to_the_processes() -> None:
    strict = Trust(dict[str, Ed25519PublicKey](TRUST.keys), is_required=True)

    answers = asyncio.run(read_by(Readers(strict, 1), log()))

    assert comparable(answers) == here(log(), strict)
    assert sum(isinstance(each, UntrustedEventError) for each in answers) == 40


def test_processes_that_are_killed_lose_nothing() -> None:
    events = log() * 20

    answers = asyncio.run(read_by(Readers(TRUST, 2), events, disturb=True))

    assert comparable(answers) == here(events, TRUST)
    assert not readers_of(os.getpid())


def test_a_service_starts_a_process_again_and_goes_on_meanwhile(tmp_path: Path) -> None:
    with running(tmp_path, "--readers", "1") as service:
        assert eventually(lambda: len(readers_of(service.pid)) == 1)
        first = readers_of(service.pid)
        os.kill(first[0], signal.SIGKILL)

        statuses = statuses_of_batch(service, log())

        assert sorted(set(statuses)) == [201, 400, 422]
        assert statuses.count(201) == 80
        assert eventually(lambda: bool(readers_of(service.pid)) and readers_of(service.pid) != first)


def test_the_processes_of_a_service_that_was_killed_end_too(tmp_path: Path) -> None:
    with running(tmp_path, "--readers", "2") as service:
        assert eventually(lambda: len(readers_of(service.pid)) == 2)
        left = readers_of(service.pid)
        service.kill()

        assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))


def statuses_of_batch(service: Service, events: Sequence[bytes]) -> list[int]:
    body = b"\n".join(raw or b"0" for raw in events)
    answer = httpx.post(
        f"{service.url}/api/v1/lineage/batch",
        content=body,
        headers={"content-type": "application/x-ndjson"},
        timeout=120,
    )
    return [each["status"] for each in answer.json()["results"]]
