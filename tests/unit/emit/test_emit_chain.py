"""The chain of an emitter: numbers without gaps, followed heads, and unique numbers whenever a process dies."""

import errno
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.emit.chain import MAX_FOLLOWED, Chain
from headwater.emit.config import EmitConfig, FileConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.errors import InvalidEventError
from headwater.signing.chain import Checkpoint
from headwater.signing.keys import NodeKey
from headwater.signing.verify import verify_event

KEY = NodeKey.from_seed("edge-1", bytes(32))
EVENT = b'{"run": {"runId": "r"}, "producer": "https://example.org/p", "eventType": "START"}'
DATASET_EVENT = b'{"dataset": {"namespace": "n", "name": "d"}, "producer": "https://example.org/p"}'


def no_failure(why: str) -> None:
    raise AssertionError(why)


def chain(directory: Path | None, epoch: str = "e1") -> Chain:
    return Chain(KEY, epoch, directory, no_failure)


def facet(signed: bytes, name: str = "headwater_chain") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(signed)["run"]["facets"][name]
    return content


def ended(directory: Path, epoch: str, events: int = 1) -> dict[str, Any]:
    """End an epoch; returns its head as the next epoch should name it."""
    former = chain(directory, epoch)
    last = [former.sign(EVENT) for _ in range(events)][-1]
    former.record()
    former.settle()
    former.close()
    return {"epoch": epoch, "sequence": events - 1, "payloadHash": facet(last, "signature")["payloadHash"]}


def test_events_are_numbered_from_0_and_each_has_the_hash_of_the_previous() -> None:
    current = chain(None)

    signed = [current.sign(EVENT) for _ in range(3)]

    assert [facet(event)["sequence"] for event in signed] == [0, 1, 2]
    assert [facet(event)["previousHash"] for event in signed] == [
        None,
        *(facet(event, "signature")["payloadHash"] for event in signed[:2]),
    ]
    assert {(facet(event)["nodeId"], facet(event)["epoch"]) for event in signed} == {("edge-1", "e1")}


def test_the_sequence_number_is_signed() -> None:
    signed = chain(None).sign(EVENT)

    trusted = {KEY.key_id: KEY.public_key}
    assert verify_event(signed, trusted).verdict == "ok"
    assert verify_event(signed.replace(b'"sequence":0', b'"sequence":1'), trusted).verdict == "tampered"


def test_a_chain_facet_in_the_given_event_is_replaced() -> None:
    with_facet = EVENT.replace(b'"runId"', b'"facets": {"headwater_chain": {"sequence": 7}}, "runId"')

    assert facet(chain(None).sign(with_facet))["sequence"] == 0


def test_an_event_that_cannot_be_signed_uses_no_sequence_number() -> None:
    current = chain(None)

    with pytest.raises(InvalidEventError, match="producer"):
        current.sign(b'{"run": {"runId": "r"}}')

    assert facet(current.sign(EVENT))["sequence"] == 0


def test_events_without_a_run_are_listed_in_the_next_event_that_has_one() -> None:
    current = chain(None)

    unsigned = current.sign(DATASET_EVENT)
    first, second = current.sign(EVENT), current.sign(EVENT)

    assert unsigned == DATASET_EVENT
    # printf '{"dataset": {"namespace": "n", "name": "d"}, "producer": "https://example.org/p"}' | sha256sum
    assert facet(first)["unsigned"] == ["sha256:f8447288b424dc377a815d8549f6a00e510792f43d415d44fd26e457f9634dd2"]
    assert "unsigned" not in facet(second)


def test_the_newest_checkpoint_is_named() -> None:
    current = chain(None)
    before = current.sign(EVENT)

    current.note(Checkpoint("example.org/log", 7, "AAAA"))

    assert facet(before)["lastCheckpoint"] is None
    assert facet(current.sign(EVENT))["lastCheckpoint"] == {
        "origin": "example.org/log",
        "size": 7,
        "rootHash": "AAAA",
    }


def test_an_epoch_names_the_heads_of_those_that_ended(tmp_path: Path) -> None:
    heads = [ended(tmp_path, "e1", 3)]

    current = chain(tmp_path, "e2")
    first = current.sign(EVENT)
    current.record()
    again = current.sign(EVENT)  # it is not known yet whether the first is safe
    current.settle()
    later = current.sign(EVENT)

    assert facet(first)["follows"] == facet(again)["follows"] == heads
    assert "follows" not in facet(later)


def test_events_without_a_run_name_no_heads_so_these_remain_for_the_first_that_has_one(tmp_path: Path) -> None:
    heads = [ended(tmp_path, "e1")]
    current = chain(tmp_path, "e2")
    current.sign(DATASET_EVENT)
    current.record()
    current.settle()
    current.close()

    assert facet(chain(tmp_path, "e3").sign(EVENT))["follows"] == heads


def test_a_running_epoch_is_not_followed_until_it_ends(tmp_path: Path) -> None:
    running_chain = chain(tmp_path, "e1")
    running_chain.sign(EVENT)
    running_chain.record()

    during = chain(tmp_path, "e2")
    during_event = during.sign(EVENT)
    running_chain.close()
    after_event = chain(tmp_path, "e3").sign(EVENT)

    assert "follows" not in facet(during_event)
    assert [head["epoch"] for head in facet(after_event)["follows"]] == ["e1"]
    during.close()


def test_heads_that_an_epoch_could_not_send_are_left_to_the_next(tmp_path: Path) -> None:
    heads = [ended(tmp_path, "e1")]
    unsent = chain(tmp_path, "e2")
    unsent.sign(EVENT)  # and it is never sent: no record, no settle

    unsent.close()

    assert facet(chain(tmp_path, "e3").sign(EVENT))["follows"] == heads


def test_an_epoch_has_one_directory_and_leaves_it_to_one_next_epoch_only(tmp_path: Path) -> None:
    current = chain(tmp_path, "e1")
    for _ in range(3):
        current.sign(EVENT)
        current.record()
    during = len(list(tmp_path.iterdir()))
    current.close()

    ended(tmp_path, "e2")

    assert during == 1
    assert [head["epoch"] for head in facet(chain(tmp_path, "e3").sign(EVENT))["follows"]] == ["e2"]


def test_an_emitter_without_events_leaves_nothing(tmp_path: Path) -> None:
    chain(tmp_path).close()

    assert list(tmp_path.iterdir()) == []


def test_many_epochs_are_followed_by_several_later_ones(tmp_path: Path) -> None:
    chains = [chain(tmp_path, f"e{number}") for number in range(MAX_FOLLOWED + 1)]
    for each in chains:
        each.sign(EVENT)
        each.record()
    for each in chains:
        each.close()

    followed = []
    for epoch in ("f1", "f2"):
        current = chain(tmp_path, epoch)
        followed += [head["epoch"] for head in facet(current.sign(EVENT))["follows"]]
        current.record()
        current.settle()

    assert set(followed) == {f"e{number}" for number in range(MAX_FOLLOWED + 1)}


def test_a_head_that_a_power_cut_destroyed_is_not_followed(tmp_path: Path) -> None:
    ended(tmp_path, "e1")
    (head,) = tmp_path.glob("*/head")
    head.write_bytes(b"\0" * 256)

    assert "follows" not in facet(chain(tmp_path, "e2").sign(EVENT))


def test_a_disk_that_refuses_the_head_does_not_stop_the_chain(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    failures: list[str] = []
    current = Chain(KEY, "e1", tmp_path / "file" / "chain", failures.append)

    signed = [current.sign(EVENT), current.sign(EVENT)]
    current.record()
    current.settle()
    current.close()

    assert [facet(event)["sequence"] for event in signed] == [0, 1]
    assert set(failures) == {f"chain: {os.strerror(errno.ENOTDIR)}"}


def test_an_ended_epoch_that_cannot_be_claimed_holds_up_neither_the_others_nor_our_own_head(tmp_path: Path) -> None:
    heads = [ended(tmp_path, "e1")]
    unreadable = tmp_path / "0-of-another-user" / "lock"
    unreadable.mkdir(parents=True)
    failures: list[str] = []
    current = Chain(KEY, "e2", tmp_path, failures.append)
    follows = facet(current.sign(EVENT))["follows"]
    current.record()
    current.settle()
    current.close()

    next_chain = Chain(KEY, "e3", tmp_path, failures.append)

    assert follows == heads
    assert [head["epoch"] for head in facet(next_chain.sign(EVENT))["follows"]] == ["e2"]
    assert set(failures) == {f"chain: {os.strerror(errno.EISDIR)}"}
    next_chain.close()


@dataclass
class Node:
    """A node's processes, the events that they signed, and those that reached the spool."""

    directory: Path
    epochs: int = 0
    running: list[Chain] = field(default_factory=list)
    signed: list[bytes] = field(default_factory=list)
    spooled: list[bytes] = field(default_factory=list)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["start", "batch", "die signing", "die recorded", "die spooled", "end"]),
        st.integers(0, 2),
        st.integers(1, 4),
    ),
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_sequence_numbers_are_unique_and_every_end_is_known_whenever_processes_die(
    steps: list[tuple[str, int, int]],
) -> None:
    with TemporaryDirectory() as directory:
        node = Node(Path(directory))

        for kind, index, events in steps:
            step(node, kind, index, events)
        for running in [*node.running]:
            die(node, running)
        step(node, "start", 0, 0)
        step(node, "batch", 0, 1)

        check(node)
        node.running[0].close()


def step(node: Node, kind: str, index: int, events: int) -> None:
    if kind == "start":
        node.epochs += 1
        node.running.append(Chain(KEY, f"e{node.epochs}", node.directory, no_failure))
        return
    if not node.running:
        return
    running = node.running[index % len(node.running)]
    if kind == "end":
        running.close()
        node.running.remove(running)
        return
    batch = [running.sign(EVENT) for _ in range(events)]
    node.signed += batch
    if kind != "die signing":
        running.record()
    if kind in ("die spooled", "batch"):
        node.spooled += batch
    if kind == "batch":
        running.settle()
    else:
        die(node, running)


def die(node: Node, running: Chain) -> None:
    """Close the process's files as the kernel would: others see nothing else of its death."""
    for each in running._followed:
        each.claim.release()
    if running._claim is not None:
        running._claim.release()
    if running._file is not None:
        os.close(running._file)
    node.running.remove(running)


def check(node: Node) -> None:
    places = Counter((facet(event)["epoch"], facet(event)["sequence"]) for event in node.signed)
    assert set(places.values()) == {1}
    heads: dict[str, int] = {}
    for event in node.spooled:
        heads[facet(event)["epoch"]] = facet(event)["sequence"]
    followed: dict[str, int] = {}
    for event in node.spooled:
        for head in facet(event).get("follows", ()):
            followed[head["epoch"]] = head["sequence"]
    newest = facet(node.spooled[-1])["epoch"]
    assert followed.keys() >= heads.keys() - {newest}
    assert all(followed[epoch] >= sequence for epoch, sequence in heads.items() if epoch != newest)


def test_an_emitter_of_a_node_chains_its_events(tmp_path: Path) -> None:
    config = EmitConfig(file=FileConfig(path=tmp_path / "events.jsonl"), spool=tmp_path / "spool", drain_timeout_s=60)
    for _ in range(2):
        with Emitter.of_node(config, KEY) as emitter:
            for _ in range(3):
                emitter.put(EVENT)

    events = (tmp_path / "events.jsonl").read_bytes().splitlines()

    assert [facet(event)["sequence"] for event in events] == [0, 1, 2, 0, 1, 2]
    (followed,) = facet(events[3])["follows"]
    assert followed == {
        "epoch": facet(events[2])["epoch"],
        "sequence": 2,
        "payloadHash": facet(events[2], "signature")["payloadHash"],
    }
    assert {verify_event(event, {KEY.key_id: KEY.public_key}).verdict for event in events} == {"ok"}


def test_a_followed_head_is_deleted_only_after_the_following_event_is_on_disk(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    with Emitter.of_node(EmitConfig(file=FileConfig(path=tmp_path / "events.jsonl"), spool=spool), KEY) as former:
        former.put(EVENT)
    unreachable = HttpConfig(endpoint="http://127.0.0.1:9/api/v1/lineage")

    heads = {}
    for spool_max_mb in (0.0001, 256.0):
        config = EmitConfig(http=unreachable, spool=spool, spool_max_mb=spool_max_mb, drain_timeout_s=0.1)
        with Emitter.of_node(config, KEY) as emitter:
            emitter.put(EVENT)
            assert emitter.settle(60.0)
            heads[spool_max_mb] = len([*spool.glob("chain-*/*/head")])

    assert heads[0.0001] == 2  # a kill now would lose the event
    assert heads[256.0] == 1
