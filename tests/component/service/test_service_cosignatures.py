"""Cosignatures of witnesses are stored and served with the heads of the log."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import SetupError
from headwater.service.log.cosignatures import Enrolled, enrolled_witnesses
from headwater.signing.checkpoint import Checkpoint, parse_checkpoint
from headwater.signing.note import COSIGNATURE, NoteSigner, parse_note, signed_note, verified_text
from headwater.store.sqlite import SqliteStore
from tests.support.app import LOG_KEY, event, post, serving

ANN = NoteSigner.from_seed("ann.example.org/witness", bytes([1] * 32), COSIGNATURE)
BOB = NoteSigner.from_seed("bob.example.org/witness", bytes([2] * 32), COSIGNATURE)
STRANGER = NoteSigner.from_seed("stranger.example.org/witness", bytes([3] * 32), COSIGNATURE)
NOON_S = 1_779_451_200
"""2026-05-22T12:00:00Z"""


@contextmanager
def witnessed_log(folder: Path, *witnesses: NoteSigner) -> Iterator[TestClient]:
    enrolled = Enrolled([witness.verifier for witness in witnesses], folder / "witness" / "cosignatures.json")
    with closing(SqliteStore(folder / "headwater.db")) as store, serving(store, witnesses=enrolled) as client:
        yield client


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with witnessed_log(tmp_path, ANN, BOB) as client:
        grow(client, 3)
        yield client


def grow(client: TestClient, count: int, begin: int = 0) -> None:
    post(client, *(event(job={"namespace": "etl", "name": f"job {number}"}) for number in range(begin, begin + count)))


def head(client: TestClient, **parameters: int) -> str:
    return client.get("/api/v1/log/checkpoint", params=parameters).raise_for_status().text


def cosigned(note: str, *witnesses: NoteSigner, time_s: int = NOON_S) -> str:
    text = parse_note(note).text
    return signed_note(text, [LOG_KEY.line(text), *(witness.line(text, time_s) for witness in witnesses)])


def post_cosignature(client: TestClient, note: str | bytes) -> tuple[int, str]:
    answer = client.post("/api/v1/log/cosignatures", content=note)
    return answer.status_code, answer.text


def test_a_head_is_served_with_the_cosignatures_of_its_witnesses(client: TestClient) -> None:
    status, note = post_cosignature(client, cosigned(head(client), ANN))
    post_cosignature(client, cosigned(head(client), BOB))

    assert (status, note.count("\N{EM DASH} ")) == (200, 2)
    for signer in (LOG_KEY, ANN, BOB):
        assert parse_checkpoint(verified_text(head(client), [signer.verifier])).size == 3


def test_the_newest_head_with_the_requested_number_of_witnesses_is_served(client: TestClient) -> None:
    post_cosignature(client, cosigned(head(client), ANN, BOB))
    grow(client, 1, 3)
    post_cosignature(client, cosigned(head(client), ANN))
    grow(client, 1, 4)

    sizes = [parse_checkpoint(parse_note(head(client, witnesses=count)).text).size for count in range(3)]

    assert sizes == [5, 4, 3]
    assert client.get("/api/v1/log/checkpoint", params={"witnesses": 3}).status_code == 404


def test_each_head_has_the_log_size_that_a_witness_last_signed(client: TestClient) -> None:
    sizes = [client.get("/api/v1/log/checkpoint").headers["headwater-witnessed-size"]]
    post_cosignature(client, cosigned(head(client), ANN))
    grow(client, 1, 3)

    sizes += [
        client.get(f"/api/v1/log/checkpoint{query}").headers["headwater-witnessed-size"]
        for query in ("", "?witnesses=1")
    ]

    assert sizes == ["0", "3", "3"]


def test_the_newest_signature_of_a_witness_counts(client: TestClient) -> None:
    post_cosignature(client, cosigned(head(client), ANN))
    post_cosignature(client, later := cosigned(head(client), ANN, time_s=NOON_S + 60))

    assert head(client) == later


def test_after_a_restart_only_cosignatures_of_enrolled_witnesses_are_served(tmp_path: Path) -> None:
    with witnessed_log(tmp_path, ANN, BOB) as client:
        grow(client, 3)
        post_cosignature(client, cosigned(head(client), ANN, BOB))

    with witnessed_log(tmp_path, BOB) as client:
        assert head(client) == cosigned(head(client), BOB)


def test_after_a_restart_cosignatures_over_another_log_are_not_served(tmp_path: Path) -> None:
    with witnessed_log(tmp_path, ANN) as client:
        grow(client, 3)
        post_cosignature(client, cosigned(head(client), ANN))
    for path in tmp_path.glob("headwater.db*"):
        path.unlink()

    with witnessed_log(tmp_path, ANN) as client:
        grow(client, 4)
        answer = client.get("/api/v1/log/checkpoint", params={"witnesses": 1})

    assert answer.status_code == 404


@pytest.mark.parametrize("damaged", ["", "— ann", "— ann.example.org/witness AAAAAAAA\n", "two\n\nlines\n"])
def test_after_a_restart_a_damaged_cosignature_is_not_served_and_the_others_are(tmp_path: Path, damaged: str) -> None:
    with witnessed_log(tmp_path, ANN, BOB) as client:
        grow(client, 3)
        post_cosignature(client, cosigned(head(client), ANN, BOB))
    file = tmp_path / "witness" / "cosignatures.json"
    stored = json.loads(file.read_text())
    stored["3"][str(ANN.verifier)] = damaged
    file.write_text(json.dumps(stored))

    with witnessed_log(tmp_path, ANN, BOB) as client:
        assert head(client) == cosigned(head(client), BOB)


@pytest.mark.parametrize(
    "text", ["", "\udcff", "[]", '{"a": {}}', '{"3": 1}', '{"3": {"ann": 1}}', '{"3": ["ab"]}', "[" * 9_999]
)
def test_a_damaged_file_of_cosignatures_is_named_at_the_start(tmp_path: Path, text: str) -> None:
    file = tmp_path / "witness" / "cosignatures.json"
    file.parent.mkdir()
    file.write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(SetupError, match=f"^{file} is damaged: remove it"), witnessed_log(tmp_path, ANN):
        pass


def test_a_service_with_a_damaged_file_of_cosignatures_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    (file := tmp_path / "witness" / "cosignatures.json").parent.mkdir()
    file.write_text("{")

    result = CliRunner().invoke(app, ["serve", "--port", "0"])

    assert isinstance(result.exception, SetupError)
    assert str(result.exception) == f"{file} is damaged: remove it, and witnesses will sign again"


def test_only_a_cosignature_of_an_enrolled_witness_over_this_log_is_accepted(client: TestClient) -> None:
    ours = head(client)
    elsewhere = Checkpoint("lineage.example.org", 3, bytes(32)).signed(LOG_KEY)
    ahead = Checkpoint("lineage.example.org", 4, bytes(32)).signed(LOG_KEY)
    other = parse_note(ours).text.replace("lineage.example.org", "other.example.org")
    forged = cosigned(ours, ANN).replace("\n3\n", "\n2\n")

    assert [
        post_cosignature(client, cosigned(ours, STRANGER))[0],
        post_cosignature(client, ours)[0],
        post_cosignature(client, cosigned(elsewhere, ANN))[0],
        post_cosignature(client, cosigned(ahead, ANN))[0],
        post_cosignature(client, signed_note(other, [ANN.line(other, NOON_S)]))[0],
        post_cosignature(client, forged)[0],
        post_cosignature(client, "no note")[0],
        post_cosignature(client, b"\xff\xfe")[0],
        post_cosignature(client, b"x" * 100_000)[0],
    ] == [403, 403, 400, 400, 400, 400, 400, 400, 413]
    assert client.get("/api/v1/log/checkpoint", params={"witnesses": 1}).status_code == 404


def test_an_invalid_signature_of_a_witness_is_refused_whoever_else_signed(client: TestClient) -> None:
    text = parse_note(head(client)).text
    other = text.replace("\n3\n", "\n1\n")
    bad = ANN.line(other, NOON_S)

    status, body = post_cosignature(client, signed_note(text, [bad, BOB.line(text, NOON_S)]))

    assert (status, json.loads(body)["message"]) == (
        403,
        f"note: the signature of {ANN.verifier.name} does not match this text",
    )


def test_witnesses_are_enrolled_with_one_key_per_line(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "witnesses").write_text(f"# ours\n{ANN.verifier}\n\n{BOB.verifier}\n")

    assert [witness.name for witness in enrolled_witnesses(tmp_path).witnesses] == [
        ANN.verifier.name,
        BOB.verifier.name,
    ]


@pytest.mark.parametrize(("line", "message"), [("nonsense", "white space|NAME"), (str(LOG_KEY.verifier), "log's key")])
def test_a_line_that_is_not_a_witness_key_is_reported_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "witnesses").write_text(f"\n{line}\n")

    with pytest.raises(SetupError, match=rf"witnesses:2: .*({message})"):
        enrolled_witnesses(tmp_path)
