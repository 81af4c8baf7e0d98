"""Nodes' records: each way to tamper with one is found, whatever the order of arrival."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.graph.nodes import Nodes, Trouble, troubles
from headwater.model.events import RunEvent, parse_event
from headwater.model.extract import facts
from headwater.model.facts import ChainLink, RunFacet
from headwater.model.nodes import Arrival, chain_link
from headwater.signing.chain import Head, Link
from headwater.signing.keys import NodeKey
from headwater.signing.sign import Linked
from tests.support.app import event
from tests.support.chains import KEY, NODE, erased, head, heartbeat, in_place, link_of, record

E1, E2 = "018f0000-0000-7000-8000-000000000001", "018f0000-0000-7000-8000-000000000002"
WHOLE = record(E1, 5)


def nodes_of(links: list[ChainLink]) -> Nodes:
    nodes = Nodes()
    for link in links:
        nodes.add(link)
    return nodes


def found(events: list[Linked], now_us: int = 0) -> list[tuple[str, str, int, int | None, int | None]]:
    """Kind, epoch, how many events, first and last place of all that does not fit."""
    epochs = nodes_of([link_of(each.raw, received_us=2_000_000_000_000_000) for each in events]).epochs[NODE]
    return [(each.kind, each.epoch, each.events, each.first, each.last) for each in troubles(epochs, now_us)]


def test_a_whole_record_has_no_trouble() -> None:
    assert found(WHOLE) == []


def test_events_that_were_left_out_are_a_hole() -> None:
    assert found([WHOLE[0], WHOLE[3], WHOLE[4]]) == [("hole", E1, 2, 1, 2)]


def test_a_record_that_begins_late_has_a_hole_at_its_beginning() -> None:
    assert found(WHOLE[2:]) == [("hole", E1, 2, 0, 1)]


def test_the_last_events_of_an_epoch_are_missed_by_the_one_that_follows() -> None:
    after = record(E2, 1, follows=(head(E1, WHOLE),))

    assert found([*WHOLE, *after]) == []
    assert found([*WHOLE[:3], *after]) == [("hole", E1, 2, 3, 4)]


def test_a_whole_epoch_that_was_left_out_is_missed_by_the_one_that_follows() -> None:
    assert found(record(E2, 1, follows=(head(E1, WHOLE),))) == [("hole", E1, 5, 0, 4)]


def test_two_events_for_one_place_are_a_fork() -> None:
    other = in_place(event(eventType="OTHER"), Link(NODE, E1, 2, WHOLE[1].payload_hash))

    # What comes after names one of the two, so it fits.
    assert found([*WHOLE, other]) == [("fork", E1, 2, 2, 2)]


def test_an_event_that_was_replaced_breaks_the_link_behind_it() -> None:
    other = in_place(event(eventType="OTHER"), Link(NODE, E1, 2, WHOLE[1].payload_hash))

    assert found([*WHOLE[:2], other, *WHOLE[3:]]) == [("broken", E1, 1, 3, 3)]


def test_another_head_than_the_next_epoch_names_is_broken() -> None:
    other = record(E1, 5, salt="x")

    assert ("broken", E1, 1, 4, 4) in found([*WHOLE, *record(E2, 1, follows=(head(E1, other),))])


def test_an_event_that_comes_again_in_other_bytes_is_a_replay() -> None:
    again = json.dumps(json.loads(WHOLE[2].raw), indent=1).encode()

    assert found([*WHOLE, WHOLE[2]._replace(raw=again)]) == [("replay", E1, 1, 2, 2)]


def test_the_very_same_bytes_again_are_nothing() -> None:
    assert found([*WHOLE, *WHOLE]) == []


@pytest.mark.parametrize("place", range(5))
def test_an_event_whose_signature_was_erased_keeps_its_place(place: int) -> None:
    events = [*WHOLE[:place], erased(WHOLE[place]), *WHOLE[place + 1 :]]

    assert found([*events, *record(E2, 1, follows=(head(E1, WHOLE),))]) == []


def test_an_event_that_is_sent_again_after_its_signature_was_erased_is_no_fork() -> None:
    assert found([*WHOLE, erased(WHOLE[2])]) == [("replay", E1, 1, 2, 2)]


@pytest.mark.parametrize(("verdict", "key_id"), [("unsigned", KEY.key_id), ("ok", None), ("ok", "node:other#sha256:x")])
def test_an_erased_signature_speaks_for_the_node_whose_key_the_log_found_good(verdict: str, key_id: str | None) -> None:
    parsed = parse_event(erased(WHOLE[0]).raw)

    assert isinstance(parsed, RunEvent)
    assert chain_link(parsed, Arrival(0, verdict, key_id)) is None


def test_who_promised_heartbeats_and_falls_silent_is_missed() -> None:
    beat = heartbeat(E1, 0, None)
    received_us = 2_000_000_000_000_000

    assert found([beat], received_us + 120_000_000) == []
    assert found([beat], received_us + 120_000_001) == [("silence", E1, 0, None, None)]
    assert found([beat, heartbeat(E1, 1, beat.payload_hash, is_last=True)], received_us * 2) == []


def test_an_epoch_whose_end_a_later_one_names_is_silent_no_more_and_its_missing_events_are_a_hole() -> None:
    beat = heartbeat(E1, 0, None)
    killed, later_us = [beat, heartbeat(E1, 1, beat.payload_hash)], 2_000_000_000_000_000 * 2
    after = record(E2, 1, follows=(head(E1, killed),))

    assert found(killed, later_us) == [("silence", E1, 0, None, None)]
    assert found([*killed, *after], later_us) == []
    assert found([beat, *after], later_us) == [("hole", E1, 1, 1, 1)]


def test_what_a_node_dropped_is_told() -> None:
    gap = {
        "events": 3,
        "reasons": {"queue_full": 3},
        "firstAt": "2026-05-22T14:00:00Z",
        "lastAt": "2026-05-22T14:00:05Z",
        "eventsSoFar": 3,
    }

    assert found([heartbeat(E1, 0, None, gap=gap)]) == [("dropped", E1, 3, 0, 0)]


def test_a_clock_that_is_ahead_of_ours_is_told() -> None:
    ahead = link_of(WHOLE[0].raw, received_us=0)  # its event time is that of 2026

    (trouble,) = troubles(nodes_of([ahead]).epochs[NODE], 0)

    assert trouble.kind == "clock"
    assert trouble.words.startswith("its clock was at least 1,7")


@pytest.mark.parametrize("verdict", ["tampered", "unsigned", "malformed"])
def test_who_signed_nothing_says_nothing_about_a_node(verdict: str) -> None:
    parsed = parse_event(WHOLE[0].raw)
    assert isinstance(parsed, RunEvent)

    assert chain_link(parsed, Arrival(0, verdict)) is None


def test_a_key_speaks_for_its_own_node_only() -> None:
    stranger = NodeKey.from_seed("22222222-2222-2222-2222-222222222222", bytes(range(32)))
    claimed = in_place(event(), Link(NODE, E1, 0, None), stranger)
    parsed = parse_event(claimed.raw)
    assert isinstance(parsed, RunEvent)

    assert chain_link(parsed, Arrival(0, "ok")) is None


def test_a_heartbeat_is_no_run_of_any_job() -> None:
    said = facts(parse_event(heartbeat(E1, 0, None).raw), Arrival(0, "ok"))

    assert [type(fact) for fact in said] == [ChainLink]


def test_the_place_of_an_event_is_no_facet_of_its_run() -> None:
    said = facts(parse_event(WHOLE[0].raw), Arrival(0, "ok"))

    assert [fact.name for fact in said if isinstance(fact, RunFacet)] == ["signature"]


LOG = [
    *WHOLE,
    *record(E1, 3, salt="x"),
    *record(E2, 2, follows=(head(E1, WHOLE), Head("018e", 3, WHOLE[0].payload_hash))),
    heartbeat(E2, 2, None),
    heartbeat(E2, 5, None, is_last=True),
    WHOLE[1]._replace(raw=json.dumps(json.loads(WHOLE[1].raw), indent=1).encode()),
    erased(WHOLE[0]),
    erased(WHOLE[3]),
]
LINKS = [link_of(each.raw, received_us=number * 1_000_000) for number, each in enumerate(LOG)]


def picture(nodes: Nodes) -> tuple[object, list[Trouble]]:
    return nodes.epochs, [each for epochs in nodes.epochs.values() for each in troubles(epochs, 10**16)]


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, len(LINKS) - 1)), st.integers())
def test_a_record_is_the_same_in_any_order_and_with_repetitions(kept: set[int], seed: int) -> None:
    links = [LINKS[number] for number in sorted(kept)]
    generator = random.Random(seed)  # noqa: S311  a test's order, not a secret
    shaken = links + [each for each in links if generator.random() < 0.3]
    generator.shuffle(shaken)

    assert picture(nodes_of(shaken)) == picture(nodes_of(links))
