"""API keys and the operator's token: which tokens are accepted, and for whom."""

import re
from base64 import urlsafe_b64encode

import pytest

from headwater.access.api_keys import ApiKey, caller_of, new_key, read_key, stored_form
from headwater.access.callers import Caller, Grant
from headwater.access.operator import operator_of, operator_token
from headwater.errors import UnauthenticatedError
from headwater.signing.note import NoteSigner, signed_note

NOW_US = 1_779_459_791_000_000
MINUTE_US = 60_000_000
LOG_KEY = NoteSigner.from_seed("lineage.example.org", bytes(32))


def test_only_the_complete_secret_of_a_key_admits_its_holder() -> None:
    made, other = new_key(), new_key()
    key = ApiKey(made.key_id, "ci", made.sha256, Grant(frozenset({"read"}), ("sales*",)), NOW_US)
    secret, other_secret = (each.secret.rpartition(each.key_id)[2] for each in (made, other))

    assert caller_of(made.secret, {made.key_id: key}) == Caller("key:ci", key.grant, NOW_US)
    for guess in (
        f"hw_{made.key_id}{other_secret}",
        f"hw_{other.key_id}{secret}",
        f"{made.secret}x",
        made.secret[:-1],
        made.key_id,
        made.sha256,
        "hw_",
        "",
    ):
        with pytest.raises(UnauthenticatedError, match="unknown or was revoked"):
            caller_of(guess, {made.key_id: key})


def test_a_stored_key_is_read_back_unchanged_and_does_not_contain_the_secret() -> None:
    made = new_key()
    grant = Grant(frozenset({"read", "ingest"}), ("sales*",), ("node-1",), knows_restricted=True)
    key = ApiKey(made.key_id, "ci", made.sha256, grant, NOW_US)

    assert read_key(made.key_id, stored_form(key)) == key
    assert made.secret.rpartition("_")[2] not in str(stored_form(key))
    assert re.fullmatch(r"hw_[0-9a-f]{12}_[\w-]{43}", made.secret)


def test_an_operators_token_is_valid_for_a_minute() -> None:
    token = operator_token(LOG_KEY, "ann\nbell\x07", NOW_US)

    for now_us in (NOW_US - MINUTE_US, NOW_US, NOW_US + MINUTE_US - 1):
        operator = operator_of(token, LOG_KEY.verifier, now_us)
        assert (operator.name, operator.until_us) == ("operator:annbell", NOW_US + MINUTE_US)
        assert (operator.grant.roles, operator.grant.covers_all) == ({"admin"}, True)
    for now_us in (NOW_US - MINUTE_US - 1, NOW_US + MINUTE_US):
        with pytest.raises(UnauthenticatedError, match="are the clocks right"):
            operator_of(token, LOG_KEY.verifier, now_us)


@pytest.mark.parametrize(
    "text",
    [
        f"lineage.example.org\n7\n{NOW_US + 1}\n",
        f"headwater operator\nann\n{NOW_US + 1}\nmore\n",
        f"headwater operator\n{NOW_US + 1}\n",
        "headwater operator\nann\nforever\n",
    ],
    ids=["checkpoint", "more", "less", "no time"],
)
def test_other_notes_that_the_logs_key_signed_are_not_operators_tokens(text: str) -> None:
    note = signed_note(text, [LOG_KEY.line(text)])

    with pytest.raises(UnauthenticatedError):
        operator_of(f"hwop_{urlsafe_b64encode(note.encode()).decode()}", LOG_KEY.verifier, NOW_US)


@pytest.mark.parametrize(
    ("nodes", "node_id", "covered"),
    [
        (("*",), None, True),
        (("edge-*",), "edge-7", True),
        (("edge-*",), "core-7", False),
        (("edge-*",), None, False),
        ((), "edge-7", False),
    ],
)
def test_a_node_pattern_covers_matching_nodes_and_only_the_star_covers_unsigned_events(
    nodes: tuple[str, ...], node_id: str | None, covered: bool
) -> None:
    assert Grant(frozenset({"ingest"}), ("*",), nodes).covers_node(node_id) is covered
