"""The key directory: keys are enrolled with a one-time token, replaced by the old key, revoked from a time on."""

import json
import uuid
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from starlette.testclient import TestClient

from headwater.access.entrance import Entrance
from headwater.access.policy import Policy
from headwater.errors import UnavailableError, UntrustedEventError
from headwater.signing.directory import Signed, enrolment, revocation, rotation
from headwater.signing.jwks import encoded_public_key, read_jwks, read_revocations
from headwater.signing.keys import NodeKey, key_id
from headwater.signing.sign import sign_event
from headwater.signing.tokens import new_token, use, valid_token
from headwater.store.entries import Entry, Stored
from headwater.store.sqlite import SqliteStore
from tests.support.app import START_US, Response, event, get, serving
from tests.support.callers import caller, operator

NODE = "11111111-1111-1111-1111-111111111111"
KEY = NodeKey.from_seed(NODE, bytes(32))
NEW = NodeKey.from_seed(NODE, bytes(range(32)))
STRANGER = NodeKey.from_seed("22222222-2222-2222-2222-222222222222", bytes(range(1, 33)))
NOW = datetime.fromtimestamp(START_US / 1_000_000, UTC)
DAY_US = 86_400_000_000


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    return tmp_path / "tokens"


@pytest.fixture
def client(tmp_path: Path, tokens: Path) -> Iterator[TestClient]:
    store = SqliteStore(tmp_path / "headwater.db")
    with closing(store), serving(store, require_signed=True, tokens=tokens) as client:
        yield client


def token(tokens: Path, node: str | None = None, until_us: int = START_US + DAY_US) -> str:
    return new_token(tokens, until_us, node)


def post_statement(client: TestClient, signed: Signed, token: str | None = None) -> Response:
    body = {"statement": signed.text, "signatures": dict(signed.signatures), "token": token}
    return client.post("/api/v1/keys", json=body)


def enrol(client: TestClient, key: NodeKey, token: str | None) -> Response:
    return post_statement(client, enrolment(key, str(uuid.uuid4()), NOW), token)


def post_signed(client: TestClient, key: NodeKey, time: str = "2026-05-22T14:00:00Z") -> int:
    raw = sign_event(json.dumps(event(eventTime=time, run={"runId": str(uuid.uuid4())})).encode(), key)
    status: int = client.post("/api/v1/lineage", content=raw).status_code
    return status


def test_a_key_enrolled_with_a_token_is_trusted_from_then_on(client: TestClient, tokens: Path) -> None:
    before = post_signed(client, KEY)

    answer = enrol(client, KEY, token(tokens))

    assert (before, answer.status_code, post_signed(client, KEY)) == (403, 201, 201)
    (known,) = get(client, "/api/v1/keys")["keys"]
    assert (known["keyId"], known["nodeId"], known["origin"]) == (KEY.key_id, NODE, "enrolled")
    assert read_jwks(client.get("/api/v1/keys/jwks").text).keys() == {KEY.key_id}


def test_a_token_can_be_used_once(client: TestClient, tokens: Path) -> None:
    made = token(tokens)

    first, second = enrol(client, KEY, made), enrol(client, STRANGER, made)

    assert (first.status_code, second.status_code) == (201, 403)
    assert second.json()["message"].startswith("token: unknown or already used")


class FailingStore(SqliteStore):
    """A store that fails once, before or after it has stored something."""

    fails: Literal["before", "after", "no longer"]

    def add(self, entries: Sequence[Entry]) -> list[Stored]:
        fails, self.fails = self.fails, "no longer"
        if fails != "before":
            stored = super().add(entries)
        if fails != "no longer":
            raise UnavailableError("the event could not be stored, try again: disk full")
        return stored


@pytest.mark.parametrize(("fails", "again"), [("before", 201), ("after", 403)])
def test_a_token_is_used_up_only_if_the_statement_was_stored(
    tmp_path: Path, tokens: Path, fails: Literal["before", "after"], again: int
) -> None:
    once = token(tokens)
    with (
        closing(FailingStore(tmp_path / "headwater.db")) as store,
        serving(store, require_signed=True, tokens=tokens) as client,
    ):
        store.fails = fails

        failed = enrol(client, KEY, once)

        assert failed.status_code == 503
        assert enrol(client, STRANGER, once).status_code == again
        assert enrol(client, STRANGER, once).status_code == 403
    assert [*tokens.iterdir()] == []


def test_a_used_token_stays_used_if_its_file_is_restored_from_a_backup(client: TestClient, tokens: Path) -> None:
    made = token(tokens)
    (file,) = tokens.iterdir()
    backup = file.read_bytes()
    enrol(client, KEY, made)
    file.write_bytes(backup)

    again = enrol(client, STRANGER, made)

    assert (again.status_code, again.json()["message"]) == (403, "token: already used")
    assert [*tokens.iterdir()] == []


@pytest.mark.parametrize("is_stored", [False, True])
def test_after_a_service_was_killed_while_it_used_a_token_another_token_does_what_it_was_for(
    client: TestClient, tokens: Path, is_stored: bool
) -> None:
    lost = token(tokens)
    (file,) = tokens.iterdir()
    if is_stored:
        enrol(client, KEY, token(tokens))
    file.rename(file.with_name(f"{file.name}.used"))

    refused, enrolled = enrol(client, KEY, lost), enrol(client, KEY, token(tokens))

    assert (refused.status_code, enrolled.status_code) == (403, 201)
    assert "make one with `headwater key token`" in refused.json()["message"]
    assert [known["keyId"] for known in get(client, "/api/v1/keys")["keys"]] == [KEY.key_id]


def test_a_token_that_another_service_uses_meanwhile_is_refused(tokens: Path) -> None:
    made = token(tokens)
    valid = valid_token(tokens, made, START_US)

    use(tokens, made)

    assert valid == (None, None)
    with pytest.raises(UntrustedEventError, match="token: already used"):
        use(tokens, made)


def test_only_the_hash_of_a_token_is_on_disk(tokens: Path) -> None:
    made = token(tokens)

    (file,) = tokens.iterdir()

    assert made not in file.name + file.read_text()


@pytest.mark.parametrize("case", ["no token", "late", "other node", "second key"])
def test_a_key_is_not_enrolled_without_a_valid_token(client: TestClient, tokens: Path, case: str) -> None:
    match case:
        case "no token":
            made = None
        case "late":
            made = token(tokens, until_us=START_US)
        case "other node":
            made = token(tokens, node=STRANGER.node_id)
        case _:
            enrol(client, NEW, token(tokens))
            made = token(tokens)

    answer = enrol(client, KEY, made)

    assert answer.status_code == 403
    assert post_signed(client, KEY) == 403


def test_a_key_for_which_anybody_can_sign_is_not_enrolled(client: TestClient, tokens: Path) -> None:
    neutral = (1).to_bytes(32, "little")  # the neutral point; as R too, with S = 0, it fits any text
    key = Ed25519PublicKey.from_public_bytes(neutral)
    members = {"headwater": "key/1", "id": "1", "what": "enrol", "keyId": key_id(NODE, key), "time": NOW.isoformat()}
    text = json.dumps({**members, "x": encoded_public_key(key)})
    signature = b64encode(neutral + bytes(32)).decode()

    answer = post_statement(client, Signed(text, {key_id(NODE, key): signature}), token(tokens))

    assert answer.status_code == 403
    assert answer.json()["message"].startswith("signatures: no valid signature by key")
    assert get(client, "/api/v1/keys")["keys"] == []


def test_a_key_cannot_be_enrolled_with_another_keys_signature(client: TestClient, tokens: Path) -> None:
    claimed = enrolment(KEY, "1", NOW)
    by_another = enrolment(STRANGER, "1", NOW).signatures[STRANGER.key_id]

    answer = post_statement(client, Signed(claimed.text, {KEY.key_id: by_another}), token(tokens))

    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("signed", "has_token", "named"),
    [
        (enrolment(NEW, "1", NOW), True, "operator:ann"),
        (rotation(KEY, NEW, "1", NOW), False, "operator:ann"),
        (revocation(KEY.key_id, NOW, "lost", "1", NOW, KEY), False, "operator:ann"),
        (revocation(KEY.key_id, NOW, "lost", "1", NOW), True, "operator:ann"),
        (revocation(KEY.key_id, NOW, "lost", "1", NOW), True, KEY.key_id),
    ],
)
def test_the_log_names_nobody_as_the_signer_of_a_statement_who_did_not_sign_it(
    client: TestClient, tokens: Path, signed: Signed, has_token: bool, named: str
) -> None:
    enrol(client, KEY, token(tokens))
    before = get(client, "/api/v1/actions")
    forged = Signed(signed.text, {named: "AAAA", **signed.signatures})

    answer = post_statement(client, forged, token(tokens, NODE) if has_token else None)

    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (403, "signatures")
    assert get(client, "/api/v1/actions") == before


def test_the_old_key_introduces_the_new_one_and_stays_trusted_for_events_in_transit(
    client: TestClient, tokens: Path
) -> None:
    enrol(client, KEY, token(tokens))

    answer = post_statement(client, rotation(KEY, NEW, "1", NOW))

    assert (answer.status_code, post_signed(client, NEW), post_signed(client, KEY)) == (201, 201, 201)
    by_id = {each["keyId"]: each for each in get(client, "/api/v1/keys")["keys"]}
    assert (by_id[NEW.key_id]["replaces"], by_id[KEY.key_id]["replacedBy"]) == (KEY.key_id, NEW.key_id)


def test_a_rotation_that_anybody_sends_again_is_stored_once(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))
    sent = rotation(KEY, NEW, "1", NOW)
    post_statement(client, sent)
    before = get(client, "/api/v1/actions")

    answer = post_statement(client, sent)

    assert answer.status_code == 201
    assert get(client, "/api/v1/actions") == before


def test_an_enrolment_cannot_say_that_its_key_replaces_another(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))
    members = {**json.loads(enrolment(STRANGER, "1", NOW).text), "replaces": KEY.key_id}
    text = json.dumps(members)
    signed = Signed(text, {STRANGER.key_id: b64encode(STRANGER.sign(text.encode())).decode()})

    answer = post_statement(client, signed, token(tokens))

    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (400, "statement.replaces")
    assert [known["replacedBy"] for known in get(client, "/api/v1/keys")["keys"]] == [None]


@pytest.mark.parametrize("signers", [(NEW,), (KEY,)])
def test_a_rotation_without_both_signatures_is_refused(
    client: TestClient, tokens: Path, signers: tuple[NodeKey, ...]
) -> None:
    enrol(client, KEY, token(tokens))
    signed = rotation(KEY, NEW, "1", NOW)

    signatures = {key.key_id: signed.signatures[key.key_id] for key in signers}
    answer = post_statement(client, Signed(signed.text, signatures))

    assert answer.status_code == 403
    assert post_signed(client, NEW) == 403


def test_a_key_of_another_node_is_refused_as_a_replacement(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))

    assert post_statement(client, rotation(KEY, STRANGER, "1", NOW)).status_code == 400


@pytest.mark.parametrize("by", ["the key", "a token"])
def test_events_signed_by_a_revoked_key_are_refused_whatever_their_time(
    client: TestClient, tokens: Path, by: str
) -> None:
    enrol(client, KEY, token(tokens))
    keys, made = ((KEY,), None) if by == "the key" else ((), token(tokens))

    answer = post_statement(client, revocation(KEY.key_id, NOW, "laptop lost", "1", NOW, *keys), made)

    assert answer.status_code == 201
    assert post_signed(client, KEY, "2020-01-01T00:00:00Z") == 403  # a thief may write any time into an event
    (known,) = get(client, "/api/v1/keys")["keys"]
    assert (known["revokedFrom"], known["revokedBecause"]) == ("2026-05-22T14:23:11.000Z", "laptop lost")
    assert json.loads(client.get("/api/v1/keys/jwks").text)["keys"][0]["revokedFrom"] == "2026-05-22T14:23:11.000000Z"


def test_a_refused_event_is_retriable_while_its_key_is_unknown_and_not_once_it_is_revoked(
    client: TestClient, tokens: Path
) -> None:
    def may_come_later() -> bool:
        raw = sign_event(json.dumps(event()).encode(), KEY)
        is_retriable: bool = client.post("/api/v1/lineage", content=raw).json()["retriable"]
        return is_retriable

    unknown = may_come_later()
    enrol(client, KEY, token(tokens))
    post_statement(client, revocation(KEY.key_id, NOW, "laptop lost", "1", NOW, KEY))

    assert (unknown, may_come_later()) == (True, False)


def test_a_refusal_is_retriable_until_the_key_is_revoked_also_for_a_sender_limited_to_one_node(
    tmp_path: Path, tokens: Path
) -> None:
    store = SqliteStore(tmp_path / "headwater.db")
    with closing(store), serving(store, tokens=tokens, entrance=Entrance(Policy())) as client:
        sender = caller(operator(client), "ingest", nodes=[NODE])
        raw = sign_event(json.dumps(event()).encode(), KEY)

        unknown = sender("POST", "/api/v1/lineage", content=raw)
        enrol(client, KEY, token(tokens))
        post_statement(client, revocation(KEY.key_id, NOW, "laptop lost", "1", NOW, KEY))
        revoked = sender("POST", "/api/v1/lineage", content=raw)

    assert [answer.status_code for answer in (unknown, revoked)] == [403, 403]
    assert [answer.json()["retriable"] for answer in (unknown, revoked)] == [True, False]


@pytest.mark.parametrize("reason", ["", " "])
def test_a_key_is_not_revoked_without_a_reason(client: TestClient, tokens: Path, reason: str) -> None:
    enrol(client, KEY, token(tokens))

    answer = post_statement(client, revocation(KEY.key_id, NOW, reason, "1", NOW, KEY))

    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (400, "statement.reason")
    assert post_signed(client, KEY) == 201


def test_a_key_with_a_future_revocation_is_valid_until_then(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))

    post_statement(client, revocation(KEY.key_id, NOW + timedelta(days=1), "moves on", "1", NOW, KEY))

    assert post_signed(client, KEY) == 201
    assert post_signed(client, KEY, "2026-05-24T00:00:00Z") == 403


def test_the_key_set_says_to_the_microsecond_since_when_a_key_is_revoked(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))
    moment = NOW + timedelta(days=1, microseconds=999)

    post_statement(client, revocation(KEY.key_id, moment, "moves on", "1", NOW, KEY))

    assert read_revocations(client.get("/api/v1/keys/jwks").text) == {KEY.key_id: moment}


def test_an_unknown_key_cannot_revoke_another_and_is_itself_not_found(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))

    by_stranger = post_statement(client, revocation(KEY.key_id, NOW, "spite", "1", NOW, STRANGER))
    unknown = post_statement(client, revocation(NEW.key_id, NOW, "lost", "1", NOW, NEW))

    assert (by_stranger.status_code, unknown.status_code) == (403, 404)
    assert post_signed(client, KEY) == 201


def test_a_revoked_key_cannot_introduce_a_replacement(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))
    post_statement(client, revocation(KEY.key_id, NOW, "stolen", "1", NOW, KEY))

    assert post_statement(client, rotation(KEY, NEW, "2", NOW)).status_code == 403


@pytest.mark.parametrize("by", ["the key", "a token"])
@pytest.mark.parametrize("days", [-1, 365 * 70])
def test_a_stolen_key_cannot_change_its_revocation(client: TestClient, tokens: Path, by: str, days: int) -> None:
    enrol(client, KEY, token(tokens))
    keys, made = ((KEY,), None) if by == "the key" else ((), token(tokens))
    post_statement(client, revocation(KEY.key_id, NOW, "laptop stolen", "1", NOW, *keys), made)

    answer = post_statement(client, revocation(KEY.key_id, NOW + timedelta(days=days), "mine", "2", NOW, KEY))

    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (403, "statement.keyId")
    assert post_signed(client, KEY) == 403
    (known,) = get(client, "/api/v1/keys")["keys"]
    assert (known["revokedFrom"], known["revokedBecause"]) == ("2026-05-22T14:23:11.000Z", "laptop stolen")


def test_a_key_may_bring_its_revocation_forward_but_not_postpone_it(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))
    post_statement(client, revocation(KEY.key_id, NOW + timedelta(days=7), "moves on", "1", NOW, KEY))

    later = post_statement(client, revocation(KEY.key_id, NOW + timedelta(days=8), "mine", "2", NOW, KEY))
    sooner = post_statement(client, revocation(KEY.key_id, NOW, "laptop stolen", "3", NOW, KEY))

    assert (later.status_code, later.json()["message"].split(":")[0]) == (403, "statement.from")
    assert (sooner.status_code, post_signed(client, KEY)) == (201, 403)


def test_a_key_may_backdate_its_revocation_by_an_hour_at_most_and_a_token_at_will(
    client: TestClient, tokens: Path
) -> None:
    enrol(client, KEY, token(tokens))
    long_ago = datetime(1970, 1, 2, tzinfo=UTC)

    by_key = post_statement(client, revocation(KEY.key_id, long_ago, "ha", "1", NOW, KEY))
    after_key = post_signed(client, KEY)
    by_token = post_statement(client, revocation(KEY.key_id, long_ago, "lost", "2", NOW), token(tokens))

    assert (by_key.status_code, by_key.json()["message"].split(":")[0], after_key) == (403, "statement.from", 201)
    assert (by_token.status_code, post_signed(client, KEY)) == (201, 403)


def test_a_mistaken_revocation_is_corrected_by_a_token_that_names_the_node(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))
    post_statement(client, revocation(KEY.key_id, NOW, "the wrong one", "1", NOW), token(tokens))
    corrected = revocation(KEY.key_id, NOW + timedelta(days=365), "was another's", "2", NOW)

    by_any_token = post_statement(client, corrected, token(tokens))
    by_node_token = post_statement(client, corrected, token(tokens, node=NODE))

    assert (by_any_token.status_code, "key token --node" in by_any_token.json()["message"]) == (403, True)
    assert (by_node_token.status_code, post_signed(client, KEY)) == (201, 201)
    (_, first), (_, last) = (
        (edit["index"], json.loads(edit["entry"]["edits"][0]["value"]["statement"])["reason"])
        for edit in get(client, "/api/v1/edits")["edits"][1::-1]
    )
    assert (first, last) == ("the wrong one", "was another's")


def test_a_revoked_key_is_not_enrolled_again_as_that_would_change_nothing(client: TestClient, tokens: Path) -> None:
    enrol(client, KEY, token(tokens))
    post_statement(client, revocation(KEY.key_id, NOW, "laptop stolen", "1", NOW), token(tokens))

    again = enrol(client, KEY, token(tokens, NODE))

    assert (again.status_code, again.json()["message"].split(":")[0]) == (403, "statement.keyId")
    assert post_signed(client, KEY) == 403
    assert len([*tokens.iterdir()]) == 1


def test_a_replacement_introduced_by_a_stolen_key_is_revoked_with_it_and_named_in_the_answer(
    client: TestClient, tokens: Path
) -> None:
    enrol(client, KEY, token(tokens))
    post_statement(client, rotation(KEY, NEW, "1", NOW))
    before = post_signed(client, NEW)

    answer = post_statement(client, revocation(KEY.key_id, NOW - timedelta(hours=2), "stolen", "2", NOW), token(tokens))

    assert (before, post_signed(client, NEW)) == (201, 403)
    by_id = {each["keyId"]: each for each in answer.json()["keys"]}
    assert (by_id[NEW.key_id]["fellWith"], by_id[KEY.key_id]["fellWith"]) == (KEY.key_id, None)
    assert by_id[KEY.key_id]["replacedBy"] is None
    assert read_jwks(client.get("/api/v1/keys/jwks").text).keys() == {KEY.key_id}
    assert enrol(client, NEW, token(tokens, node=NODE)).status_code == 201
    assert post_signed(client, NEW) == 201


def test_the_directory_is_in_the_log_and_holds_after_a_restart(tmp_path: Path, tokens: Path) -> None:
    path = tmp_path / "headwater.db"
    with closing(SqliteStore(path)) as store, serving(store, tokens=tokens) as client:
        enrol(client, KEY, token(tokens))
        (edit,) = get(client, "/api/v1/edits")["edits"]

    with closing(SqliteStore(path)) as store, serving(store, require_signed=True) as client:
        assert post_signed(client, KEY) == 201
    assert edit["entry"]["edits"][0]["target"] == ["key", KEY.key_id]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "statement: not JSON at line 1"),
        ("{}", "statement.headwater: Field required"),
        ("[]", "statement: Input should be a valid dictionary"),
        ('{"headwater": "key/1"}', "statement.id: Field required"),
        ('{"headwater": "key/1", "headwater": "key/1"}', "statement: headwater: "),
    ],
)
def test_an_invalid_statement_is_refused_with_its_first_bad_field(client: TestClient, text: str, message: str) -> None:
    answer = post_statement(client, Signed(text, {}))

    assert answer.status_code == 400
    assert answer.json()["message"].startswith(message)


def test_a_body_longer_than_any_statement_is_refused_before_it_is_read(client: TestClient) -> None:
    answer = client.post("/api/v1/keys", json={"statement": "x" * 64 * 1024})

    assert answer.status_code == 413
    assert "65536 bytes" in answer.json()["message"]
