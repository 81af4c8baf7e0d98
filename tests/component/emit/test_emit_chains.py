"""Chains of processes that are killed while they emit: no number is used twice, and a successor names every end."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from headwater.emit.overflow import BATCH
from tests.component.emit.emit_processes import Pipeline, Service

Starter = Callable[..., Pipeline]


def test_processes_of_one_node_that_are_killed_at_random_use_no_number_twice(
    service: Service, pipeline: Starter, tmp_path: Path
) -> None:
    rng = Random(7)  # noqa: S311 - when to kill, not a secret
    service.start()
    for _ in range(3):
        pair = [pipeline(tmp_path / "spool", service.url, "chained=1") for _ in range(2)]
        for process in pair:
            process.request("run", 1, 40)
            assert process.request("drain") == "True"
            process.send("run", 1, 400)
        time.sleep(rng.uniform(0, 0.05))
        for process in pair:
            process.kill()
    last = pipeline(tmp_path / "spool", service.url, "chained=1")
    last.request("run", 1, 1)
    assert last.request("drain") == "True"

    links = [json.loads(line)["run"]["facets"] for line in set(service.file.read_bytes().splitlines())]
    hashes: dict[str, dict[int, str]] = defaultdict(dict)
    places = Counter((facets["headwater_chain"]["epoch"], facets["headwater_chain"]["sequence"]) for facets in links)
    for facets in links:
        chain = facets["headwater_chain"]
        hashes[chain["epoch"]][chain["sequence"]] = facets["signature"]["payloadHash"]
    assert set(places.values()) == {1}
    for facets in links:
        chain = facets["headwater_chain"]
        before = hashes[chain["epoch"]].get(chain["sequence"] - 1)
        assert before in (None, chain["previousHash"])
    followed = {head["epoch"]: head for facets in links for head in facets["headwater_chain"].get("follows", ())}
    assert len(hashes) == 7
    assert len(followed) == 6
    assert all(head["sequence"] >= max(hashes[epoch]) for epoch, head in followed.items())


@pytest.mark.parametrize("seed", range(2))
def test_a_burst_that_is_killed_while_it_is_processed_has_each_event_in_one_place(
    service: Service, pipeline: Starter, tmp_path: Path, seed: int
) -> None:
    rng = Random(seed)  # noqa: S311 - when to kill, not a secret
    service.start()
    for first in (0, 3000):
        burst = pipeline(tmp_path / "spool", service.url, "chained=1", "queue_size=64")
        burst.request("run", first, first + 2999)
        time.sleep(rng.uniform(0, 0.3))
        burst.kill()
    last = pipeline(tmp_path / "spool", service.url, "chained=1")
    assert last.request("drain") == "True"

    events = [json.loads(line) for line in set(service.file.read_bytes().splitlines())]
    assert [n for n, times in Counter(event["n"] for event in events).items() if times > 1] == []
    assert len(events) > 6000 - 2 * (64 + BATCH)  # what was in memory when it was killed is lost
    chains = [event["run"]["facets"]["headwater_chain"] for event in events]
    assert {*Counter((chain["epoch"], chain["sequence"]) for chain in chains).values()} == {1}
