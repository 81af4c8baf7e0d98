"""Nodes' records: each kind of tampering is detected, in any order of arrival."""

import json
import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.graph.nodes import Epoch, Nodes, Trouble, troubles
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
RECORD = record(E1, 5)


def nodes_of(links: list[ChainLink]) -> Nodes:
    nodes = Nodes()
    for link in links:
        nodes.add(link)
    return nodes


def problems(events: list[Linked], now_us: int = 0) -> list[tuple[str, str, int, int | None, int | None]]:
    """Each problem's kind, epoch, number of events, first and last sequence number."""
    epochs = nodes_of([link_of(each.raw, received_us=2_000_000_000_000_000) for each in events]).epochs[NODE]
    return [(each.kind, each.epoch, each.events, each.first, each.last) for each in troubles(epochs, now_us)]


def test_a_complete_record_has_no_problems() -> None:
    assert problems(RECORD) == []


def test_missing_events_are_a_hole() -> None:
    assert problems([RECORD[0], RECORD[3], RECORD[4]]) == [("hole", E1, 2, 1, 2)]


def test_missing_first_events_are_a_hole() -> None:
    assert problems(RECORD[2:]) == [("hole", E1, 2, 0, 1)]


def test_missing_last_events_of_an_epoch_are_found_by_the_next_epoch() -> None:
    following = record(E2, 1, follows=(head(E1, RECORD),))

    assert problems([*RECORD, *following]) == []
    assert problems([*RECORD[:3], *following]) == [("hole", E1, 2, 3, 4)]


def test_a_missing_epoch_is_found_by_the_next_epoch() -> None:
    assert problems(record(E2, 1, follows=(head(E1, RECORD),))) == [("hole", E1, 5, 0, 4)]


def test_two_events_with_one_sequence_number_are_a_fork() -> None:
    other = in_place(event(eventType="OTHER"), Link(NODE, E1, 2, RECORD[1].payload_hash))

    # The next event names one of the two, so its link is valid.
    assert problems([*RECORD, other]) == [("fork", E1, 2, 2, 2)]


def test_a_replaced_event_breaks_the_link_of_the_next() -> None:
    other = in_place(event(eventType="OTHER"), Link(NODE, E1, 2, RECORD[1].payload_hash))

    assert problems([*RECORD[:2], other, *RECORD[3:]]) == [("broken", E1, 1, 3, 3)]


def test_a_head_that_differs_from_what_the_next_epoch_names_is_broken() -> None:
    other = record(E1, 5, salt="x")

    assert ("broken", E1, 1, 4, 4) in problems([*RECORD, *record(E2, 1, follows=(head(E1, other),))])


def test_an_event_that_arrives_again_in_other_bytes_is_a_replay() -> None:
    reformatted = json.dumps(json.loads(RECORD[2].raw), indent=1).encode()

    assert problems([*RECORD, RECORD[2]._replace(raw=reformatted)]) == [("replay", E1, 1, 2, 2)]


def test_the_same_bytes_again_are_not_a_problem() -> None:
    assert problems([*RECORD, *RECORD]) == []


@pytest.mark.parametrize("sequence", range(5))
def test_an_event_with_an_erased_signature_keeps_its_sequence_number(sequence: int) -> None:
    events = [*RECORD[:sequence], erased(RECORD[sequence]), *RECORD[sequence + 1 :]]

    assert problems([*events, *record(E2, 1, follows=(head(E1, RECORD),))]) == []


def test_of_an_event_whose_signature_was_erased_it_is_unknown_whether_it_came_again() -> None:
    assert problems([*RECORD, erased(RECORD[2])]) == [("erased", E1, 1, 2, 2)]
    assert problems([*RECORD[:2], *RECORD[3:], erased(RECORD[2]), _spaced(erased(RECORD[2]))]) == [
        ("erased", E1, 1, 2, 2)
    ]


@pytest.mark.parametrize("differs", ["time", "previous event"])
@pytest.mark.parametrize("is_erased", [(True, False), (False, True), (True, True)])
def test_a_fork_of_erased_events_that_surely_differ_stays_a_fork(differs: str, is_erased: tuple[bool, bool]) -> None:
    time = "2026-05-22T14:00:02Z" if differs == "previous event" else "2026-05-22T15:00:00Z"
    previous = RECORD[1].payload_hash if differs == "time" else f"sha256:{'0' * 63}1"
    other = in_place(event(eventTime=time), Link(NODE, E1, 2, previous))
    fork = [erased(each) if is_gone else each for each, is_gone in zip((RECORD[2], other), is_erased, strict=True)]

    found = problems([*RECORD[:2], *fork, *RECORD[3:]])

    assert [each for each in found if each[0] != "broken"] == [("fork", E1, 2, 2, 2)]


def test_a_replay_and_a_different_event_are_told_apart_although_the_different_one_was_erased() -> None:
    other = in_place(event(eventTime="2026-05-22T15:00:00Z"), Link(NODE, E1, 2, RECORD[1].payload_hash))

    found = problems([*RECORD, _spaced(RECORD[2]), erased(other)])

    assert found == [("fork", E1, 2, 2, 2), ("replay", E1, 1, 2, 2)]


def test_an_event_after_a_fork_of_which_one_was_erased_may_follow_the_erased_one() -> None:
    other = in_place(event(eventTime="2026-05-22T15:00:00Z"), Link(NODE, E1, 4, RECORD[3].payload_hash))
    following = [in_place(event(), Link(NODE, E1, 5, other.payload_hash)), *record(E2, 1, follows=(head(E1, RECORD),))]

    found = problems([*RECORD, erased(other), *following])

    assert found == [("fork", E1, 2, 4, 4)]


def _spaced(linked: Linked) -> Linked:
    """The same event in other bytes."""
    return linked._replace(raw=json.dumps(json.loads(linked.raw), indent=1).encode())


@pytest.mark.parametrize(("verdict", "key_id"), [("unsigned", KEY.key_id), ("ok", None), ("ok", "node:other#sha256:x")])
def test_an_erased_signature_counts_only_for_the_node_whose_key_the_log_verified(
    verdict: str, key_id: str | None
) -> None:
    parsed = parse_event(erased(RECORD[0]).raw)

    assert isinstance(parsed, RunEvent)
    assert chain_link(parsed, Arrival(0, verdict, key_id)) is None


def test_a_node_whose_heartbeats_stop_is_silent() -> None:
    first = heartbeat(E1, 0, None)
    received_us = 2_000_000_000_000_000

    assert problems([first], received_us + 120_000_000) == []
    assert problems([first], received_us + 120_000_001) == [("silence", E1, 0, None, None)]
    assert problems([first, heartbeat(E1, 1, first.payload_hash, is_last=True)], received_us * 2) == []


def test_an_epoch_that_a_later_one_follows_is_not_silent_and_its_missing_events_are_a_hole() -> None:
    first = heartbeat(E1, 0, None)
    killed, later_us = [first, heartbeat(E1, 1, first.payload_hash)], 2_000_000_000_000_000 * 2
    following = record(E2, 1, follows=(head(E1, killed),))

    assert problems(killed, later_us) == [("silence", E1, 0, None, None)]
    assert problems([*killed, *following], later_us) == []
    assert problems([first, *following], later_us) == [("hole", E1, 1, 1, 1)]


GAP = {
    "events": 3,
    "reasons": {"queue_full": 3},
    "firstAt": "2026-05-22T14:00:00Z",
    "lastAt": "2026-05-22T14:00:05Z",
    "eventsSoFar": 3,
}


def test_dropped_events_are_reported() -> None:
    assert problems([heartbeat(E1, 0, None, gap=GAP)]) == [("dropped", E1, 3, 0, 0)]


@pytest.mark.parametrize("negative", [{"events": -3}, {"reasons": {"queue_full": -3}}])
def test_a_negative_number_of_dropped_events_is_none_at_all(negative: dict[str, object]) -> None:
    assert problems([heartbeat(E1, 0, None, gap=GAP | negative)]) == []


def test_a_clock_that_is_ahead_of_ours_is_reported() -> None:
    ahead = link_of(RECORD[0].raw, received_us=0)  # its event time is that of 2026

    (trouble,) = troubles(nodes_of([ahead]).epochs[NODE], 0)

    assert trouble.kind == "clock"
    assert trouble.words.startswith("its clock was at least 1,7")


@pytest.mark.parametrize("verdict", ["tampered", "unsigned", "malformed"])
def test_an_event_without_a_valid_signature_is_not_part_of_a_record(verdict: str) -> None:
    parsed = parse_event(RECORD[0].raw)
    assert isinstance(parsed, RunEvent)

    assert chain_link(parsed, Arrival(0, verdict)) is None


def test_a_key_is_valid_for_its_own_node_only() -> None:
    other_key = NodeKey.from_seed("22222222-2222-2222-2222-222222222222", bytes(range(32)))
    signed = in_place(event(), Link(NODE, E1, 0, None), other_key)
    parsed = parse_event(signed.raw)
    assert isinstance(parsed, RunEvent)

    assert chain_link(parsed, Arrival(0, "ok")) is None


def test_a_heartbeat_is_not_a_run_of_a_job() -> None:
    reported = facts(parse_event(heartbeat(E1, 0, None).raw), Arrival(0, "ok"))

    assert [type(fact) for fact in reported] == [ChainLink]


def test_the_chain_facet_is_not_a_facet_of_the_run() -> None:
    reported = facts(parse_event(RECORD[0].raw), Arrival(0, "ok"))

    assert [fact.name for fact in reported if isinstance(fact, RunFacet)] == ["signature"]


LOG = [
    *RECORD,
    *record(E1, 3, salt="x"),
    *record(E2, 2, follows=(head(E1, RECORD), Head("018e", 3, RECORD[0].payload_hash))),
    heartbeat(E2, 2, None),
    heartbeat(E2, 5, None, is_last=True),
    RECORD[1]._replace(raw=json.dumps(json.loads(RECORD[1].raw), indent=1).encode()),
    erased(RECORD[0]),
    erased(RECORD[3]),
]
LINKS = [link_of(each.raw, received_us=number * 1_000_000) for number, each in enumerate(LOG)]


def test_many_events_for_one_sequence_number_are_compared_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    many, nodes, compared = [link_of(record(E1, 3, salt=str(each))[2].raw) for each in range(50)], Nodes(), 0
    links_at = Epoch.links_at

    def counting(epoch: Epoch, sequence: int) -> Iterator[bytes]:
        nonlocal compared
        for link in links_at(epoch, sequence):
            compared += 1
            yield link

    monkeypatch.setattr(Epoch, "links_at", counting)
    for each in many:
        nodes.add(each)
    before = compared
    [fork] = [each for each in troubles(nodes.epochs[NODE], 0) if each.kind == "fork"]

    assert before == 0
    assert (fork.events, fork.first) == (50, 2)
    assert compared <= 4 * len(many)


def picture(nodes: Nodes) -> tuple[object, list[Trouble]]:
    return nodes.epochs, [each for epochs in nodes.epochs.values() for each in troubles(epochs, 10**16)]


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, len(LINKS) - 1)), st.integers())
def test_a_record_is_the_same_in_any_order_and_with_repetitions(chosen: set[int], seed: int) -> None:
    links = [LINKS[number] for number in sorted(chosen)]
    generator = random.Random(seed)  # noqa: S311  a test's order, not a secret
    shuffled = links + [each for each in links if generator.random() < 0.3]
    generator.shuffle(shuffled)

    assert picture(nodes_of(shuffled)) == picture(nodes_of(links))


THIEF = NodeKey.from_seed(NODE, bytes(31) + b"\1")
"""A key that nobody trusts, in the node's name."""
LATER_US = 2_000_000_000_000_000


def unknown(events: list[Linked], received_us: int = LATER_US) -> list[ChainLink]:
    """The links of events whose key was not trusted when they came."""
    return [link_of(each.raw, received_us, "unknown-key") for each in events]


def proved(events: list[Linked], received_us: int = LATER_US) -> list[ChainLink]:
    return [link_of(each.raw, received_us) for each in events]


def found(links: list[ChainLink], now_us: int = 10**16) -> Sequence[tuple[str, str, int]]:
    orders = [[*links], [*reversed(links)]]
    ways = [[(*each[:2], each.events) for each in troubles(nodes_of(way).epochs[NODE], now_us)] for way in orders]
    assert ways[0] == ways[1]
    return ways[0]


FORGED_END = in_place(json.loads(heartbeat(E1, 1, None, is_last=True).raw), Link(NODE, E1, 9, None), THIEF)
FORGED_NEXT = record(E2, 1, follows=(Head(E1, 0, f"sha256:{'0' * 64}"),), key=THIEF)


@pytest.mark.parametrize(
    "forged",
    [
        [FORGED_END],
        FORGED_NEXT,
        [in_place(event(), Link(NODE, E1, 1, None), THIEF)],
        [in_place(event(), Link(NODE, "018e", 2**52, None, None, (), (f"sha256:{'0' * 64}",)), THIEF)],
    ],
)
def test_nobody_else_ends_an_epoch_of_a_node_that_ever_proved_to_be_itself(forged: list[Linked]) -> None:
    own = proved([heartbeat(E1, 0, None)])

    assert found([*own, *unknown(forged, LATER_US + 10**15)], LATER_US + 10**15) == [("silence", E1, 0)]
    assert nodes_of([*own, *unknown(forged)]).unproved(NODE) == 1


def test_an_event_that_arrives_again_in_other_bytes_does_not_end_a_silence() -> None:
    own = heartbeat(E1, 0, None)

    again = link_of(_spaced(own).raw, LATER_US + 10**15)

    assert found([*proved([own]), again], LATER_US + 10**15) == [("replay", E1, 1), ("silence", E1, 0)]


def test_events_from_before_a_nodes_key_was_trusted_count_as_its_later_ones_name_them() -> None:
    first, second = record(E1, 3), record(E2, 4, follows=(head(E1, record(E1, 3)),))

    assert found([*unknown(first), *unknown(second[:2]), *proved(second[2:])]) == []
    assert found([*unknown(first[:1]), *unknown(first[2:]), *unknown(second[:2]), *proved(second[2:])]) == [
        ("hole", E1, 2)
    ]


def test_a_node_that_never_proved_to_be_itself_is_what_its_events_say() -> None:
    assert found(unknown([heartbeat(E1, 0, None)])) == [("silence", E1, 0)]
    assert found(unknown([heartbeat(E1, 0, None), heartbeat(E1, 2, None, is_last=True)])) == [("hole", E1, 1)]


MIXED = [link_of(each.raw, number, "ok" if number % 3 else "unknown-key") for number, each in enumerate(LOG)] + unknown(
    [FORGED_END, *FORGED_NEXT, *record(E1, 4), *record(E2, 2, follows=(head(E1, RECORD),), key=THIEF)]
)


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(0, len(MIXED) - 1)), st.integers(), st.integers(0, len(MIXED)))
def test_which_links_count_is_the_same_in_any_order(chosen: set[int], seed: int, asked_after: int) -> None:
    links = [MIXED[number] for number in sorted(chosen)]
    shuffled = [*links, *links[:3]]
    random.Random(seed).shuffle(shuffled)  # noqa: S311  a test's order, not a secret

    nodes = nodes_of(shuffled[:asked_after])
    picture(nodes)
    for each in shuffled[asked_after:]:
        nodes.add(each)

    assert picture(nodes) == picture(nodes_of(links))
    assert counted(nodes) == expected_to_count(links)


def counted(nodes: Nodes) -> set[tuple[str, int, bytes]]:
    """Each event that counts: its epoch, sequence and digest."""
    return {
        (name, sequence, link[72:104])
        for epochs in nodes.epochs.values()
        for name, epoch in epochs.items()
        for sequence in epoch.links
        for link in epoch.links_at(sequence)
    }


def expected_to_count(links: list[ChainLink]) -> set[tuple[str, int, bytes]]:
    """The same by a plain search: whatever those that count name, until nothing is added."""
    counting = {each for each in links if each.is_proved} or {*links}
    before = 0
    while before < len(counting):
        before = len(counting)
        filled = {(each.epoch, each.sequence) for each in counting}
        named = {(each.epoch, each.sequence - 1, each.previous_hash) for each in counting}
        for each in counting:
            statements = json.loads(each.statements or b"{}")
            for epoch, sequence, payload_hash in statements.get("follows", ()):
                named.add((epoch, sequence, bytes.fromhex(payload_hash.removeprefix("sha256:"))))
        places = {(epoch, sequence) for epoch, sequence, _ in named}
        fitting: dict[tuple[str, int], list[ChainLink]] = {}
        for each in links:
            place = (each.epoch, each.sequence)
            is_named = (*place, each.payload_hash) in named or (each.payload_hash == bytes(32) and place in places)
            if is_named and place not in filled:
                fitting.setdefault(place, []).append(each)
        counting |= {min(some, key=_order) for some in fitting.values()}
    return {(each.epoch, each.sequence, each.digest) for each in counting}


def _order(link: ChainLink) -> tuple[bytes, bytes, int, bytes, int]:
    return link.payload_hash, link.previous_hash.rjust(32, b"\0"), link.event_us, link.digest, link.received_us
