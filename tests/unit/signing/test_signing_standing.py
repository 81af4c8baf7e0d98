import dataclasses
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations

import orjson
import pytest

from headwater.model.edits import KEY, EditItem, edit_entry
from headwater.model.facts import Edit
from headwater.model.times import microseconds
from headwater.signing.directory import Signed, enrolment, revocation, rotation
from headwater.signing.keys import NodeKey
from headwater.signing.standing import Standing, standing

NODE = "11111111-1111-1111-1111-111111111111"
OLD, NEW, NEWEST = (NodeKey.from_seed(NODE, bytes([number] * 32)) for number in range(3))
NOON = datetime(2026, 5, 22, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
TOKEN = "a hash"  # noqa: S105


def statement_at(hour: float, signed: Signed, token: str | None = None) -> tuple[datetime, EditItem]:
    """A statement that arrives this many hours after noon."""
    statement = orjson.loads(signed.text)
    members = {"statement": signed.text, "signatures": dict(signed.signatures), "token": token}
    action = "revoked" if statement["what"] == "revoke" else "enrolled"
    return NOON + hour * HOUR, EditItem((KEY, statement["keyId"]), action, members)


def enrolled(hour: float, key: NodeKey) -> tuple[datetime, EditItem]:
    return statement_at(hour, enrolment(key, "e", NOON), TOKEN)


def replaced(hour: float, old: NodeKey, new: NodeKey, stated: float | None = None) -> tuple[datetime, EditItem]:
    return statement_at(hour, rotation(old, new, "n", NOON + (hour if stated is None else stated) * HOUR))


def revoked(hour: float, key: NodeKey, from_hour: float, token: str | None = None) -> tuple[datetime, EditItem]:
    return statement_at(hour, revocation(key.key_id, NOON + from_hour * HOUR, "lost", "r", NOON, key), token)


def after(*entries: tuple[datetime, EditItem]) -> Standing:
    return standing(facts_of(entries), {})


def facts_of(entries: Sequence[tuple[datetime, EditItem]]) -> list[Edit]:
    return [
        fact
        for index, (time, edit) in enumerate(entries)
        for fact in edit_entry(str(index), microseconds(time), None, [edit]).facts(index)
    ]


def from_hour(now: Standing, key: NodeKey) -> float:
    return (now.revoked[key.key_id].from_us - microseconds(NOON)) / microseconds(datetime(1970, 1, 1, 1, tzinfo=UTC))


def test_a_key_is_known_after_its_enrolment() -> None:
    now = after(enrolled(0, OLD))

    assert (now.keys.keys(), now.revoked, now.fallen) == ({OLD.key_id}, {}, {})


@pytest.mark.parametrize("hour", [1, 1.5, 2])
@pytest.mark.parametrize("later", [-2, 0.75, 99])
def test_a_revoked_keys_own_statement_changes_nothing(hour: float, later: float) -> None:
    assert from_hour(after(enrolled(0, OLD), revoked(1, OLD, 1), revoked(hour, OLD, later)), OLD) == 1


@pytest.mark.parametrize("later", [-2, 0.5, 99])
def test_a_keys_own_statement_does_not_change_a_revocation_by_token(later: float) -> None:
    by_token = revoked(1, OLD, 5, TOKEN)

    assert from_hour(after(enrolled(0, OLD), by_token, revoked(2, OLD, later)), OLD) == 5
    assert from_hour(after(enrolled(0, OLD), revoked(0.5, OLD, later), by_token), OLD) == 5


def test_the_last_revocation_by_token_counts_whatever_its_time() -> None:
    first, earlier, later = (revoked(1 + hour, OLD, hour, TOKEN) for hour in (2, -5, 9))

    assert from_hour(after(enrolled(0, OLD), first, earlier), OLD) == -5
    assert from_hour(after(enrolled(0, OLD), first, earlier, later), OLD) == 9


def test_a_key_can_make_a_future_revocation_earlier_but_not_later() -> None:
    assert from_hour(after(enrolled(0, OLD), revoked(1, OLD, 9), revoked(2, OLD, 3)), OLD) == 3
    assert from_hour(after(enrolled(0, OLD), revoked(1, OLD, 9), revoked(2, OLD, 10)), OLD) == 9


def test_a_key_can_revoke_itself_at_most_an_hour_back() -> None:
    assert from_hour(after(enrolled(0, OLD), revoked(8, OLD, -99)), OLD) == 7
    assert from_hour(after(enrolled(0, OLD), revoked(8, OLD, -99, TOKEN)), OLD) == -99


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_time_at_the_end_of_the_calendar_is_valid(time: str) -> None:
    statement = revocation(OLD.key_id, datetime.fromisoformat(time), "lost", "r", NOON)

    assert abs(after(enrolled(0, OLD), statement_at(1, statement, TOKEN)).revoked[OLD.key_id].from_us) < 2**62


def test_only_a_revocation_with_a_time_revokes() -> None:
    revoke = json.loads(revocation(OLD.key_id, NOON, "lost", "r", NOON).text)
    timeless = {member: value for member, value in revoke.items() if member != "from"}
    dated = json.loads(enrolment(OLD, "e", NOON).text) | {"from": revoke["from"]}

    now = after(enrolled(0, OLD), *(statement_at(1, Signed(json.dumps(each), {}), TOKEN) for each in (timeless, dated)))

    assert (now.keys.keys(), now.revoked) == ({OLD.key_id}, {})


def test_a_replacement_named_before_the_revocation_remains_trusted() -> None:
    now = after(enrolled(0, OLD), replaced(1, OLD, NEW), revoked(2, OLD, 1.5, TOKEN))

    assert (now.keys.keys(), now.fallen) == ({OLD.key_id, NEW.key_id}, {})


@pytest.mark.parametrize("stated", [-9, 1, 9])
def test_a_replacement_named_after_the_revocation_is_not_trusted_nor_are_those_it_named(stated: float) -> None:
    now = after(
        enrolled(0, OLD), replaced(1, OLD, NEW, stated), replaced(2, NEW, NEWEST, stated), revoked(3, OLD, 0.5, TOKEN)
    )

    assert now.keys.keys() == {OLD.key_id}
    assert now.fallen == {NEW.key_id: OLD.key_id, NEWEST.key_id: OLD.key_id}


def test_a_replacement_named_at_the_time_of_the_revocation_is_not_trusted() -> None:
    assert after(enrolled(0, OLD), replaced(1, OLD, NEW), revoked(2, OLD, 1, TOKEN)).fallen == {NEW.key_id: OLD.key_id}


def test_a_replacements_time_is_the_later_of_its_arrival_and_its_stated_time() -> None:
    now = after(enrolled(0, OLD), replaced(1, OLD, NEW, 5), revoked(2, OLD, 4, TOKEN))

    assert now.fallen == {NEW.key_id: OLD.key_id}


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_a_replacement_that_a_token_enrolled_remains_trusted_in_any_order(order: Sequence[int]) -> None:
    items = [replaced(2, OLD, NEW), enrolled(2, NEW), revoked(2, OLD, 1, TOKEN)]

    now = after(enrolled(0, OLD), *(items[index] for index in order))

    assert (now.keys.keys(), now.fallen) == ({OLD.key_id, NEW.key_id}, {})


def test_an_enrolment_counts_whatever_key_it_says_it_replaces() -> None:
    """Only a rotation is signed by the key that it replaces; an enrolment has a token."""
    text = orjson.dumps({**orjson.loads(enrolment(NEW, "e", NOON).text), "replaces": OLD.key_id}).decode()

    now = after(enrolled(0, OLD), revoked(1, OLD, 1, TOKEN), statement_at(2, Signed(text, {}), TOKEN))

    assert (NEW.key_id in now.keys, now.fallen) == (True, {})


def test_a_replacement_remains_when_the_old_key_is_no_longer_configured() -> None:
    (fact,) = facts_of([replaced(1, OLD, NEW)])

    assert standing([fact], {}).keys.keys() == {NEW.key_id}
    assert standing([fact], {OLD.key_id: OLD.public_key}).keys.keys() == {OLD.key_id, NEW.key_id}


def test_statements_count_in_the_order_of_the_log_in_any_order_of_reading() -> None:
    facts = facts_of([enrolled(0, OLD), *(revoked(at, OLD, hour, TOKEN) for at, hour in ((1, 3), (2, 9), (4, 5)))])

    assert {from_hour(standing(order, {}), OLD) for order in permutations(facts)} == {5}


def test_the_single_statement_of_an_older_format_counts() -> None:
    facts = [dataclasses.replace(fact, what=fact.what.partition(":")[0]) for fact in facts_of([enrolled(0, OLD)])]

    assert standing(facts, {}).keys.keys() == {OLD.key_id}
