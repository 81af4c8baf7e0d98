"""`headwater witness` against a real service: it signs a log that only grew, and detects one that was rewritten."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from types import NoneType
from zipfile import ZipFile

import httpx
import pytest
from typer.testing import CliRunner, Result

from headwater.cli.exit_status import status_of
from headwater.cli.main import app, main
from headwater.errors import HeadwaterError, UnavailableError, UntrustedNoteError
from headwater.signing.checkpoint import Checkpoint
from headwater.signing.notefile import log_key, witness_key
from tests.support.app import event
from tests.support.ports import free_port
from tests.support.service import running
from tests.support.witness import OTHER, independent_witness


def lose_log(home: Path) -> None:
    """Delete the log; the next service begins another one, under the same key."""
    for path in home.glob("headwater.db*"):
        path.unlink()


def test_a_witness_signs_a_log_that_grew_and_detects_a_rewritten_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere = tmp_path / "service", tmp_path / "witness"
    key = str(log_key(home, "lineage.example.org", "").verifier)
    own = str(witness_key(elsewhere, "witness.example.org", "").verifier)
    (home / "keys" / "witnesses").write_text(f"{own}\n")

    def look(url: str) -> tuple[int, str]:
        monkeypatch.setenv("HEADWATER_HOME", str(elsewhere))
        result = CliRunner().invoke(app, ["witness", url, "--log-key", key, "--once"])
        return result.exit_code, result.stdout.removesuffix("\n") if result.exit_code == 0 else str(result.exception)

    with running(home) as service:
        post(service.url, 3)
        assert look(service.url)[0] == 0
        post(service.url, 5)
        status, note = look(service.url)
        assert (status, "lineage.example.org\n5\n" in note) == (0, True)
        assert httpx.get(f"{service.url}/api/v1/log/checkpoint?witnesses=1").text == note
        answer = json.loads(
            CliRunner().invoke(app, ["witness", service.url, "--log-key", key, "--once", "--json"]).stdout
        )
        assert (answer["origin"], answer["size"], answer["witnessKey"]) == ("lineage.example.org", 5, own)
        note = answer["note"]  # the witness may have signed the same head once more, in another second
        assert note.startswith("lineage.example.org\n5\n")

    audit(home, note, key, own, monkeypatch)
    for path in home.glob("headwater.db*"):
        path.unlink()
    with running(home) as service:
        post(service.url, 6)  # the same events, in a tree of other salts
        status, message = look(service.url)
    assert status == 1
    assert "it was rewritten, or shows others a different history" in message
    assert len([*(elsewhere / "witness").rglob("not-6-*.txt")]) == 1


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_witness_that_cannot_read_the_log_fails_with_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_damaged: bool
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    key = str(log_key(tmp_path, "lineage.example.org", "").verifier)
    if is_damaged:
        witness_key(tmp_path, None, "witness.example.org")
        (tmp_path / "keys" / "witness.key").write_text("{}")

    result = CliRunner().invoke(app, ["witness", f"http://127.0.0.1:{free_port()}", "--log-key", key, "--once"])

    assert isinstance(result.exception, HeadwaterError)
    assert status_of(result.exception) == 2
    assert ("damaged" if is_damaged else "does not answer") in str(result.exception)


@contextmanager
def answering(answer: Callable[[int], str]) -> Iterator[str]:
    """A server that answers each of its requests, counted from 0, with this text; the URL."""
    numbers = count()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = answer(next(numbers))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_networks_sign_in_page_is_not_taken_for_another_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    key = str(log_key(tmp_path, "lineage.example.org", "").verifier)

    sign_in = "<html>Welcome! Please sign in.</html>\n"
    with answering(lambda _: sign_in) as page, running(tmp_path) as service:
        results = [
            CliRunner().invoke(app, arguments)
            for arguments in (
                ["witness", page, "--log-key", key, "--once"],
                ["log", "cosign", page, "--url", page],
                ["log", "cosign", page, "--url", service.url],
            )
        ]

    assert [type(result.exception) for result in results] == [UnavailableError] * 3  # with --every, it tries again
    assert "is not the head of a log" in str(results[0].exception)
    assert str(results[1].exception) == str(results[0].exception)
    assert "did not sign, 200, and its answer is not a signature" in str(results[2].exception)


def test_two_processes_of_a_witness_do_not_sign_two_histories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    key = log_key(tmp_path, "lineage.example.org", "")
    one, other = (Checkpoint("lineage.example.org", 2, bytes([root] * 32)).signed(key) for root in (1, 2))
    results: list[Result] = []

    def look() -> None:
        arguments = ["--log-key", str(key.verifier), "--once", "--no-post"]
        results.append(CliRunner().invoke(app, ["witness", url, *arguments]))

    def answer(number: int) -> str:
        if number == 0:
            look()  # another process, while this one waits for its answer
        return other if number == 1 else one

    with answering(answer) as url:
        look()

    assert [(result.exit_code, type(result.exception)) for result in results] == [
        (0, NoneType),
        (1, UntrustedNoteError),
    ]
    assert "shows others a different history" in str(results[1].exception)
    (head,) = tmp_path.glob("witness/*/head.txt")
    assert head.read_text().startswith(other.partition("\n\n")[0])


def test_a_damaged_head_of_the_witness_is_reported_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    key = str(log_key(tmp_path, "lineage.example.org", "").verifier)
    with running(tmp_path) as service:
        CliRunner().invoke(app, ["witness", service.url, "--log-key", key, "--once"])
        (head,) = tmp_path.glob("witness/*/head.txt")
        head.write_bytes(b"\xff" * 100)

        result = CliRunner().invoke(app, ["witness", service.url, "--log-key", key, "--once"])

    assert str(result.exception) == f"{head} is damaged: restore it; without it, earlier heads are no longer checked"


def test_an_independent_witness_cosigns_the_log_and_its_signature_is_kept(tmp_path: Path) -> None:
    key = str(log_key(tmp_path, "lineage.example.org", "").verifier)
    (tmp_path / "keys" / "witnesses").write_text(f"{OTHER.verifier}\n")

    def cosigned(url: str, witness: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["log", "cosign", witness, "--url", url])
        return result.exit_code, result.stdout if result.exit_code == 0 else str(result.exception)

    with independent_witness(key) as other:
        with running(tmp_path) as service:
            post(service.url, 3)
            assert cosigned(service.url, other) == (0, "3 entries, signed\n")
            assert cosigned(service.url, other) == (0, "3 entries, signed\n")
            post(service.url, 5)
            assert cosigned(service.url, other) == (0, "5 entries, signed\n")
            newest = httpx.get(f"{service.url}/api/v1/log/checkpoint?witnesses=1").text
            assert ("lineage.example.org\n5\n" in newest, OTHER.verifier.name in newest) == (True, True)
            in_json = CliRunner().invoke(app, ["log", "cosign", other, "--url", service.url, "--json"]).stdout
            assert json.loads(in_json) == {"size": 5, "witness": other}
        lose_log(tmp_path)
        with running(tmp_path) as service:
            post(service.url, 6)
            status, message = cosigned(service.url, other)

    assert (status, "422: the head does not extend the one it saw before" in message) == (1, True)


def test_cosigning_by_a_witness_that_saw_another_head_of_that_size_fails_with_status_1(tmp_path: Path) -> None:
    """The witness answers 409 in this case, too, as https://c2sp.org/tlog-witness specifies."""
    key = str(log_key(tmp_path, "lineage.example.org", "").verifier)
    (tmp_path / "keys" / "witnesses").write_text(f"{OTHER.verifier}\n")

    with independent_witness(key) as other:
        with running(tmp_path) as service:
            post(service.url, 3)
            CliRunner().invoke(app, ["log", "cosign", other, "--url", service.url])
        lose_log(tmp_path)
        with running(tmp_path) as service:
            post(service.url, 3)
            result = CliRunner().invoke(app, ["log", "cosign", other, "--url", service.url])

    assert isinstance(result.exception, HeadwaterError)
    assert (status_of(result.exception), "it saw another head with 3 entries" in str(result.exception)) == (1, True)


@pytest.mark.parametrize(("known_log", "status"), [("log", 1), ("another log", 2)])
def test_cosigning_fails_with_status_1_for_another_history_and_2_for_an_unknown_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], known_log: str, status: int
) -> None:
    key = log_key(tmp_path, "lineage.example.org", "").verifier
    (tmp_path / "keys" / "witnesses").write_text(f"{OTHER.verifier}\n")
    known = key if known_log == "log" else log_key(tmp_path / "other", "other.example.org", "").verifier
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    with independent_witness(str(known)) as other:
        if known_log == "log":
            with running(tmp_path) as service:
                post(service.url, 5)
                CliRunner().invoke(app, ["log", "cosign", other, "--url", service.url])
            lose_log(tmp_path)
        with running(tmp_path) as service:
            post(service.url, 3)
            monkeypatch.setattr("sys.argv", ["headwater", "log", "cosign", other, "--url", service.url])
            with pytest.raises(SystemExit) as stopped:
                main()

    assert stopped.value.code == status
    assert capsys.readouterr().err.startswith("headwater: ")


def post(url: str, count: int) -> None:
    for number in range(count):
        body = event(job={"namespace": "etl", "name": f"job {number}"})
        httpx.post(f"{url}/api/v1/lineage", content=json.dumps(body)).raise_for_status()


def audit(home: Path, note: str, key: str, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit can require the witnessed head."""
    monkeypatch.setenv("HEADWATER_HOME", str(home))
    (home / "head.txt").write_text(note)
    bundle = str(home / "bundle.zip")
    exported = CliRunner().invoke(app, ["audit", "export", "-o", bundle, "--head", str(home / "head.txt")])
    assert exported.exit_code == 0, exported.output
    with_witnesses = CliRunner().invoke(app, ["audit", "export", "-o", f"{bundle}.kept", "--witnesses", "1"])
    assert with_witnesses.exit_code == 0, with_witnesses.output
    assert ZipFile(f"{bundle}.kept").read("checkpoint.txt").decode() == note
    verified = CliRunner().invoke(app, ["audit", "verify", bundle, "--log-key", key, "--witness", own])
    assert verified.exit_code == 0, verified.output
    stranger = str(witness_key(home, "stranger.example.org", "").verifier)
    verified = CliRunner().invoke(app, ["audit", "verify", bundle, "--log-key", key, "--witness", stranger])
    assert verified.exit_code == 1
    assert "stranger.example.org did not sign the head" in verified.output
