"""`headwater verify` and `headwater key show`, as scripts use them."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from headwater.cli.key import key
from headwater.cli.verify import verify
from headwater.emit.home import headwater_home
from headwater.errors import SetupError
from headwater.signing.jwks import read_jwks, write_jwks
from headwater.signing.keyfile import key_path, load_or_create
from headwater.signing.keys import NodeKey
from headwater.signing.records import sign_record
from headwater.signing.sign import sign_event
from tests.support.app import event
from tests.support.rights import limited

KEY = NodeKey.from_seed("11111111-1111-1111-1111-111111111111", bytes(32))
OTHER = NodeKey.from_seed("22222222-2222-2222-2222-222222222222", bytes(range(32)))
EVENT = b'{"producer":"https://example.org/p","run":{"runId":"r"}}'
OK, FOREIGN = sign_event(EVENT, KEY), sign_event(EVENT, OTHER)
TAMPERED = OK.replace(b'"runId":"r"', b'"runId":"s"')

app = typer.Typer()
app.command()(verify)
app.add_typer(key)
runner = CliRunner()


@pytest.fixture
def jwks(tmp_path: Path) -> Path:
    path = tmp_path / "keys.jwks"
    path.write_text(write_jwks({KEY.key_id: KEY.public_key}))
    return path


def _events(path: Path, *events: bytes, end: bytes = b"\n") -> str:
    path.write_bytes(b"\n".join(events) + end)
    return str(path)


def test_each_event_has_a_line_with_its_verdict(tmp_path: Path, jwks: Path) -> None:
    file = _events(tmp_path / "e.jsonl", OK, TAMPERED, b"", b" \t\r", FOREIGN, EVENT, b"{", OK + b"\r", end=b"")

    result = runner.invoke(app, ["verify", file, "--keys", str(jwks), "--json"])

    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"line": 1, "verdict": "ok", "keyId": KEY.key_id},
        {"line": 2, "verdict": "tampered", "keyId": KEY.key_id},
        {"line": 5, "verdict": "unknown-key", "keyId": OTHER.key_id},
        {"line": 6, "verdict": "unsigned", "keyId": None},
        {"line": 7, "verdict": "malformed", "keyId": None},
        {"line": 8, "verdict": "ok", "keyId": KEY.key_id},
    ]
    assert result.exit_code == 1


def test_it_exits_with_0_if_all_are_ok(tmp_path: Path, jwks: Path) -> None:
    file = _events(tmp_path / "e.jsonl", OK, OK)

    result = runner.invoke(app, ["verify", file, "--keys", str(jwks)])

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "2 events: 2 ok"


@pytest.mark.parametrize("event", [TAMPERED, FOREIGN, EVENT, b"{"])
def test_it_exits_with_1_if_one_of_many_is_not_ok(tmp_path: Path, jwks: Path, event: bytes) -> None:
    file = _events(tmp_path / "e.jsonl", OK, event, OK)

    assert runner.invoke(app, ["verify", file, "--keys", str(jwks)]).exit_code == 1


def test_a_file_without_events_fails(tmp_path: Path, jwks: Path) -> None:
    file = _events(tmp_path / "e.jsonl", b"", b"  ")

    result = runner.invoke(app, ["verify", file, "--keys", str(jwks)])

    assert result.exit_code == 1
    assert result.stdout == "no events\n"


def test_a_column_without_records_is_refused_so_no_record_is_judged_as_an_event(tmp_path: Path, jwks: Path) -> None:
    record = {"order": 1, "seal": sign_record(b'{"order":1}', "body", KEY)._asdict()}
    file = _events(tmp_path / "r.jsonl", json.dumps(record).encode())
    column = [file, "--keys", str(jwks), "--column", "seal"]

    alone, with_records = (runner.invoke(app, ["verify", *column, *more]) for more in ((), ("--records",)))

    assert (alone.exit_code, alone.stdout) == (2, "")
    assert "--records" in alone.stderr
    assert with_records.exit_code == 0


def test_a_record_of_a_revoked_key_is_not_ok(tmp_path: Path, jwks: Path) -> None:
    record = b'{"id":1}'
    signature = sign_record(record, "body", KEY)._asdict()
    file = _events(tmp_path / "r.jsonl", json.dumps({"id": 1, "signature": signature}).encode())
    key_set = json.loads(jwks.read_text())
    revoked = tmp_path / "revoked.jwks"
    revoked.write_text(
        json.dumps({"keys": [{**each, "revokedFrom": "2026-05-22T14:23:11Z"} for each in key_set["keys"]]})
    )

    before = runner.invoke(app, ["verify", "--records", file, "--keys", str(jwks)])
    after = runner.invoke(app, ["verify", "--records", file, "--keys", str(revoked), "--json"])

    assert before.exit_code == 0
    assert (after.exit_code, json.loads(after.stdout)["verdict"]) == (1, "unknown-key")


def test_without_json_a_line_has_the_reason(tmp_path: Path, jwks: Path) -> None:
    file = _events(tmp_path / "e.jsonl", OK, TAMPERED)

    lines = runner.invoke(app, ["verify", file, "--keys", str(jwks)]).stdout.splitlines()

    assert lines[0].split() == ["line", "1", "ok", KEY.key_id]
    assert lines[1].split()[:4] == ["line", "2", "tampered", KEY.key_id]
    assert "payloadHash" in lines[1]
    assert lines[2] == "2 events: 1 ok, 1 tampered"


def test_with_several_files_each_line_names_its_file(tmp_path: Path, jwks: Path) -> None:
    first, second = _events(tmp_path / "1.jsonl", OK), _events(tmp_path / "2.jsonl", OK, OK)
    options = ["--keys", str(jwks)]

    plain = runner.invoke(app, ["verify", first, second, *options]).stdout.splitlines()
    in_json = runner.invoke(app, ["verify", first, second, *options, "--json"]).stdout.splitlines()

    assert [line.split()[0] for line in plain[:3]] == [f"{first}:1", f"{second}:1", f"{second}:2"]
    assert [(json.loads(line)["file"], json.loads(line)["line"]) for line in in_json] == [
        (first, 1),
        (second, 1),
        (second, 2),
    ]


def test_an_event_cannot_control_the_terminal(tmp_path: Path, jwks: Path) -> None:
    with_controls = OK.replace(KEY.key_id.encode(), rb"node:\u001b[2J\u202e")
    file = _events(tmp_path / "e.jsonl", with_controls, b'{"\\u001b[2J":1,"\\u001b[2J":2}')

    output = runner.invoke(app, ["verify", file, "--keys", str(jwks)]).stdout

    assert "\x1b" not in output
    assert "\u202e" not in output


@pytest.mark.parametrize("content", [None, b"{}", b"\xff", b"not json"])
def test_unreadable_keys_are_a_usage_error_not_a_verdict(tmp_path: Path, content: bytes | None) -> None:
    keys = tmp_path / "other.jwks"
    if content is not None:
        keys.write_bytes(content)

    result = runner.invoke(app, ["verify", _events(tmp_path / "e.jsonl", OK), "--keys", str(keys)])

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "--keys" in result.stderr


def test_a_missing_file_is_a_usage_error(tmp_path: Path, jwks: Path) -> None:
    assert runner.invoke(app, ["verify", str(tmp_path / "no"), "--keys", str(jwks)]).exit_code == 2


def test_key_show_creates_the_key_once_and_shows_its_public_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))

    first, second = (runner.invoke(app, ["key", "show"]) for _ in range(2))

    created = load_or_create(headwater_home())
    private = json.loads(key_path(headwater_home()).read_bytes())["d"]
    assert created.key_id in first.stdout
    assert first.stdout == second.stdout
    assert "created a new node key" in first.stderr
    assert second.stderr == ""
    assert private not in first.output + second.output


def test_verify_reads_the_output_of_key_show_jwks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    key_set = runner.invoke(app, ["key", "show", "--jwks"]).stdout
    (tmp_path / "node.jwks").write_text(key_set)
    own = load_or_create(headwater_home())
    file = _events(tmp_path / "e.jsonl", sign_event(EVENT, own))

    result = runner.invoke(app, ["verify", file, "--keys", str(tmp_path / "node.jwks")])

    assert result.exit_code == 0
    assert read_jwks(key_set) == {own.key_id: own.public_key}
    assert '"d"' not in key_set


def test_home_is_in_the_users_folder_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEADWATER_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    assert headwater_home() == tmp_path / ".headwater"


def test_an_event_from_after_the_revocation_of_its_key_is_not_ok(tmp_path: Path) -> None:
    times = ("2026-05-22T13:59:59Z", "2026-05-22T14:00:00Z")
    events = [sign_event(json.dumps(event(eventTime=time)).encode(), KEY) for time in times]
    keys = tmp_path / "keys.jwks"
    keys.write_text(write_jwks({KEY.key_id: KEY.public_key}, {KEY.key_id: times[1]}))
    file = _events(tmp_path / "events.jsonl", *events)

    lines = runner.invoke(app, ["verify", file, "--keys", str(keys), "--json"]).stdout.splitlines()

    assert [json.loads(line)["verdict"] for line in lines] == ["ok", "unknown-key"]


def test_a_token_that_cannot_be_stored_is_reported_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "a-file"
    home.touch()
    monkeypatch.setenv("HEADWATER_HOME", str(home))

    result = runner.invoke(app, ["key", "token"])

    assert str(result.exception) == (
        f"cannot create a token in {home}/keys/tokens: Not a directory; let this user write there, or set "
        "HEADWATER_HOME to another folder"
    )


@pytest.mark.parametrize(("home", "named"), [("closed", "closed"), ("closed/below", "closed/below"), ("", "keys")])
def test_a_home_that_the_user_may_not_enter_is_named_with_what_to_do(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, home: str, named: str
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(open_folder / home))
    closed = open_folder / named.partition("/")[0]
    closed.mkdir()

    with limited(closed):
        result = runner.invoke(app, ["key", "show"])

    assert str(result.exception) == (
        f"cannot enter {open_folder / named}: Permission denied; let this user write there, or set "
        "HEADWATER_HOME to another folder"
    )


def test_a_user_without_a_home_directory_is_told_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", "~no-such-user/lineage")

    with pytest.raises(SetupError) as refusal:
        headwater_home()

    assert str(refusal.value) == (
        "there is no home directory for ~no-such-user/lineage: set HEADWATER_HOME to a folder"
    )
