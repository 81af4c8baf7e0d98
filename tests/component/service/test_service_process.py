"""`headwater serve`, as a process: how it starts, what it withstands, and how it stops."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from headwater.model.events import parse_event
from headwater.signing.note import COSIGNATURE, NoteSigner, parse_note, signed_note
from headwater.signing.notefile import log_key
from headwater.store.entries import entry_of
from headwater.store.opening import open_store
from tests.support.app import event
from tests.support.service import eventually, running

SERVE = [sys.executable, "-m", "headwater.cli.main", "serve"]


def serve(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run it with arguments with which it exits at once."""
    environment = {**os.environ, "HEADWATER_HOME": str(home)}
    return subprocess.run([*SERVE, *arguments], capture_output=True, text=True, env=environment, timeout=180)


def memory_mb(pid: int) -> float:
    """The peak memory of the process."""
    (peak,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


def test_port_0_takes_a_free_port_and_prints_it(tmp_path: Path) -> None:
    environment = {**os.environ, "HEADWATER_HOME": str(tmp_path)}
    process = subprocess.Popen([*SERVE, "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("listening on ").strip()
        health = httpx.get(f"{url}/healthz")
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        status = process.wait(120)
        process.stdout.close()
    finally:
        process.kill()

    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert (rest, status) == ("", 0)


def test_a_port_in_use_is_reported_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        refused = serve(tmp_path, "--port", str(port))

    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"headwater: port {port} is in use; stop what listens there, or choose another with --port (0: any free port)\n"
    )


def test_a_second_service_on_one_database_exits_with_an_error(tmp_path: Path) -> None:
    with running(tmp_path):
        refused = serve(tmp_path, "--port", "0")

    assert (refused.returncode, refused.stdout) == (2, "")
    assert "serves the database" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_lost_key_of_a_log_with_entries_is_replaced_with_a_warning(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "keys" / "log.key"
    with running(tmp_path) as service:
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event()))
    key.unlink()
    assert "warning" not in capfd.readouterr().err

    with running(tmp_path):
        output = capfd.readouterr().err
    with running(tmp_path):
        assert "warning" not in capfd.readouterr().err

    assert "warning: the log has 1 entry but its key is missing" in output
    assert str(key) in output


@pytest.mark.parametrize("has_events_before", [True, False])
def test_a_replaced_key_of_a_log_is_reported_once_with_the_former_key(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], has_events_before: bool
) -> None:
    key, other = tmp_path / "keys" / "log.key", tmp_path / "other" / "keys" / "log.key"
    log_key(tmp_path / "other", "other.example.org", "")
    if has_events_before:
        with running(tmp_path) as service:
            httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event()))
    with running(tmp_path) as service:
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event(eventType="COMPLETE")))
        name, key_hash, _ = httpx.get(f"{service.url}/api/v1/log/key").text.split("+", 2)
    assert "warning" not in capfd.readouterr().err
    key.write_bytes(other.read_bytes())

    with running(tmp_path):
        output = capfd.readouterr().err
    with running(tmp_path):
        assert "warning" not in capfd.readouterr().err

    entries = "2 entries" if has_events_before else "1 entry"
    assert f"{entries}, whose heads {name}+{key_hash} signed: another key, {key}, signs them" in output


@pytest.mark.parametrize("comes_again", [False, True], ids=["shorter", "with other entries"])
def test_a_database_that_is_older_than_the_stored_head_is_reported_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], comes_again: bool
) -> None:
    with running(tmp_path) as service:
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event()))
    older = (tmp_path / "headwater.db").read_bytes()
    with running(tmp_path) as service:
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event(eventType="COMPLETE")))
    (tmp_path / "headwater.db").write_bytes(older)
    if comes_again:
        with closing(open_store(tmp_path / "headwater.db")) as store:
            raw = json.dumps(event(eventType="FAIL")).encode()
            store.add([entry_of(parse_event(raw), "unsigned", None, 1, bytes(16))])

    with running(tmp_path):
        output = capfd.readouterr().err
    with running(tmp_path):
        assert "warning" not in capfd.readouterr().err

    own_head = tmp_path / "witness" / "own-head.txt"
    differs = "the log's first 2 entries differ from those it had"
    is_shorter = f"the log had 2 entries, as {own_head} shows, and now has 1: it was restored or rewritten"
    assert f"warning: {differs if comes_again else is_shorter}" in output


def test_a_database_that_is_older_than_a_head_that_a_witness_signed_is_reported_after_a_kill(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    witness = NoteSigner.from_seed("ann.example.org/witness", bytes(32), COSIGNATURE)
    (tmp_path / "keys").mkdir(mode=0o700)
    (tmp_path / "keys" / "witnesses").write_text(f"{witness.verifier}\n")
    with running(tmp_path) as service:
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event()))
    older = (tmp_path / "headwater.db").read_bytes()
    with running(tmp_path) as service:
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event(eventType="COMPLETE")))
        text = parse_note(httpx.get(f"{service.url}/api/v1/log/checkpoint").text).text
        note = signed_note(text, [witness.line(text, 1_779_451_200)])
        httpx.post(f"{service.url}/api/v1/log/cosignatures", content=note).raise_for_status()
        service.kill()
    restore(tmp_path, older)

    with running(tmp_path):
        output = capfd.readouterr().err

    assert f"warning: the log had 2 entries, as {tmp_path / 'witness' / 'own-head.txt'} shows, and now has 1" in output


@pytest.mark.parametrize("where", ["spool/chain-0/receipt-0.json", "witness/0/head.txt"])
def test_a_database_that_is_older_than_a_head_of_an_emitter_or_witness_here_is_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], where: str
) -> None:
    with running(tmp_path) as service:
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event()))
    older = (tmp_path / "headwater.db").read_bytes()
    with running(tmp_path) as service:
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event(eventType="COMPLETE")))
        head = httpx.get(f"{service.url}/api/v1/log/checkpoint").text
        service.kill()
    restore(tmp_path, older)
    (tmp_path / where).parent.mkdir(parents=True)
    (tmp_path / where).write_text(json.dumps({"checkpoint": head}) if where.endswith(".json") else head)
    for damaged in ("spool/chain-0/receipt-1.json", "witness/1/head.txt"):
        (tmp_path / damaged).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / damaged).write_text("[]")

    with running(tmp_path):
        output = capfd.readouterr().err

    assert f"warning: the log had 2 entries, as {tmp_path / where} shows, and now has 1" in output


def restore(home: Path, database: bytes) -> None:
    for path in home.glob("headwater.db*"):
        if path.is_file():
            path.unlink()
    (home / "headwater.db").write_bytes(database)


def test_a_damaged_copy_of_the_newest_head_does_not_prevent_the_start(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path) as service:
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event()))
    (tmp_path / "witness" / "own-head.txt").write_text("damaged")

    with running(tmp_path):
        output = capfd.readouterr().err

    assert "warning" not in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "no.such.host.invalid"], "--host no.such.host.invalid: cannot be resolved"),
        (["--host", "192.0.2.1"], "--host 192.0.2.1 is not an address of this machine"),
        (["--allow-host", "https://lineage.example.org"], "--allow-host: expected a host's name alone"),
    ],
)
def test_an_address_that_cannot_be_used_is_reported(tmp_path: Path, arguments: list[str], words: str) -> None:
    refused = serve(tmp_path, "--port", "0", *arguments)

    assert (refused.returncode, words in refused.stderr, "Traceback" in refused.stderr) == (2, True, False)


def test_it_does_not_listen_to_other_machines_without_access_control(tmp_path: Path) -> None:
    refused = serve(tmp_path, "--host", "0.0.0.0", "--port", "0")  # noqa: S104  what is tested

    assert (refused.returncode, refused.stdout) == (2, "")
    assert "can be reached from other machines" in refused.stderr
    assert "--access" in refused.stderr


def test_posts_in_progress_are_answered_and_stored_when_it_is_stopped(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    with running(tmp_path) as service, ThreadPoolExecutor(8) as pool:
        is_over = threading.Event()
        faults: list[str] = []

        def post_until_over(worker: int) -> None:
            with httpx.Client() as client:
                for number in range(10_000):
                    if is_over.is_set():
                        return
                    run = f"{worker}-{number}"
                    try:
                        response = client.post(
                            f"{service.url}/api/v1/lineage", content=json.dumps(event(run={"runId": run}))
                        )
                    except httpx.ConnectError:
                        return
                    except httpx.TransportError as fault:
                        faults.append(f"{run}: {fault}")
                        return
                    if response.status_code == 201:
                        acknowledged.append(run)

        posts = [pool.submit(post_until_over, worker) for worker in range(8)]
        assert eventually(lambda: len(acknowledged) > 8)
        status = service.stop()
        is_over.set()
        for post in posts:
            post.result()
    with running(tmp_path) as service:
        stored = httpx.get(f"{service.url}/api/v1/summary").json()["runs"]

    assert status == 0
    assert len(acknowledged) > 8
    assert stored == len(acknowledged)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_of_its_terminal_stops_it_in_order(tmp_path: Path, sent: signal.Signals) -> None:
    with running(tmp_path) as service:
        service.post_events([event()])

        status = service.end(sent)

    assert status == 0


def test_under_nohup_it_goes_on_when_its_terminal_is_closed(tmp_path: Path) -> None:
    environment = {**os.environ, "HEADWATER_HOME": str(tmp_path)}
    command = ["nohup", *SERVE, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as service:
        assert service.stdout is not None
        line = service.stdout.readline().decode()

        service.send_signal(signal.SIGHUP)
        answer = httpx.get(f"{line.split()[-1]}/healthz")
        service.terminate()

    assert (answer.status_code, service.returncode) == (200, 0)


def test_it_raises_its_limit_of_open_files_to_the_machines(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1_024, soft), hard))
    try:
        with running(tmp_path) as service:
            limits = Path(f"/proc/{service.pid}/limits").read_text()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert f"Max open files {hard} {hard} files" in " ".join(limits.split())


def test_open_streams_do_not_prevent_it_from_stopping(tmp_path: Path) -> None:
    with running(tmp_path) as service, httpx.stream("GET", f"{service.url}/api/v1/stream", timeout=60) as stream:
        pieces = stream.iter_text()
        next(pieces)
        began = time.monotonic()

        status = service.stop()

        assert list(pieces) == []
    assert status == 0
    assert time.monotonic() - began < 10  # the grace period for requests that do not end


def test_a_change_is_on_the_stream_at_once(tmp_path: Path) -> None:
    with running(tmp_path) as service, httpx.stream("GET", f"{service.url}/api/v1/stream", timeout=60) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 1000"
        began = time.monotonic()

        sent = event(inputs=[{"namespace": "lake", "name": "orders"}])
        response = httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(sent))

        received = [next(lines) for _ in range(4)][1:]
        assert time.monotonic() - began < 10  # no sign of life is due before
    assert response.status_code == 201
    assert received[:2] == ["event: change", "id: 0"]
    change = json.loads(received[2].removeprefix("data: "))
    assert (change["jobs"], change["state"]) == (["job:etl:load"], "RUNNING")
    assert change["edges"] == [{"origin": "dataset:lake:orders", "destination": "job:etl:load"}]


@pytest.mark.parametrize("is_announced", [True, False])
def test_a_body_of_100_mb_is_refused_without_being_held_in_memory(tmp_path: Path, is_announced: bool) -> None:
    size = 100 * 1024 * 1024

    def chunks() -> Iterator[bytes]:
        yield from (b" " * 65_536 for _ in range(size // 65_536))

    headers = {"content-length": str(size)} if is_announced else {}
    with running(tmp_path) as service:
        before = memory_mb(service.pid)

        response = httpx.post(f"{service.url}/api/v1/lineage", content=chunks(), headers=headers, timeout=180)

        after = memory_mb(service.pid)
        welcome = httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event()))
    assert response.status_code == 413
    assert response.json() == {"code": 413, "message": "body: larger than 16 MB, the limit"}
    assert after - before < (5 if is_announced else 40)
    assert welcome.status_code == 201
