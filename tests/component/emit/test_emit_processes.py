import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.component.emit.emit_processes import Pipeline, Service

Starter = Callable[..., Pipeline]


def test_events_that_a_killed_process_left_are_sent_in_order_before_those_of_the_next(
    service: Service, pipeline: Starter, tmp_path: Path
) -> None:
    first = pipeline(tmp_path / "spool", service.url)
    first.request("put", 0, 99)
    assert first.request("settle", 100) == "100 0 0"
    first.kill()
    second = pipeline(tmp_path / "spool", service.url)
    second.request("put", 100, 149)

    service.start()

    assert second.request("drain") == "True"
    assert service.numbers == list(range(150))


def test_events_pass_through_several_killed_processes(service: Service, pipeline: Starter, tmp_path: Path) -> None:
    for generation in range(4):
        process = pipeline(tmp_path / "spool", service.url)
        process.request("put", generation * 10, generation * 10 + 9)
        assert process.request("settle", generation * 10 + 10) == f"{generation * 10 + 10} 0 0"
        process.kill()
    service.start()

    assert pipeline(tmp_path / "spool", service.url).request("drain") == "True"

    assert service.numbers == list(range(40))


def test_processes_share_a_spool_directory_and_one_survivor_delivers_for_the_dead(
    service: Service, pipeline: Starter, tmp_path: Path
) -> None:
    processes = [pipeline(tmp_path / "spool", service.url) for _ in range(3)]
    for index, process in enumerate(processes):
        process.request("put", index * 1000, index * 1000 + 49)
        assert process.request("settle", 50) == "50 0 0"
    for process in processes:
        process.kill()
    service.start()

    survivor = pipeline(tmp_path / "spool", service.url)

    assert survivor.request("drain") == "True"
    assert service.numbers == [index * 1000 + n for index in range(3) for n in range(50)]


def test_a_living_process_keeps_its_spool(service: Service, pipeline: Starter, tmp_path: Path) -> None:
    living = pipeline(tmp_path / "spool", service.url)
    living.request("put", 0, 9)
    assert living.request("settle", 10) == "10 0 0"
    other = pipeline(tmp_path / "spool", service.url)
    other.request("put", 10, 10)
    assert other.request("settle", 1) == "1 0 0"
    service.start()

    assert living.request("drain") == "True"
    assert other.request("drain") == "True"

    assert sorted(service.numbers) == list(range(11))


def test_events_left_for_another_service_are_not_sent_to_this_one(
    service: Service, pipeline: Starter, tmp_path: Path
) -> None:
    elsewhere = pipeline(tmp_path / "spool", "http://127.0.0.1:9/api/v1/lineage")
    elsewhere.request("put", 0, 9)
    assert elsewhere.request("settle", 10) == "10 0 0"
    elsewhere.kill()
    service.start()
    here = pipeline(tmp_path / "spool", service.url)
    here.request("put", 100, 100)

    assert here.request("drain") == "True"

    assert service.numbers == [100]


def test_a_process_that_closes_leaves_the_remaining_events_to_the_next(
    service: Service, pipeline: Starter, tmp_path: Path
) -> None:
    first = pipeline(tmp_path / "spool", service.url, "drain_timeout_s=0.05", "queue_size=4")
    first.request("put", 0, 499)
    assert first.request("close") == "closed"
    assert first.request("exit") == ""
    service.start()

    assert pipeline(tmp_path / "spool", service.url).request("drain") == "True"

    assert service.numbers == list(range(500))


def test_a_process_that_ends_without_closing_delivers_first(
    service: Service, pipeline: Starter, tmp_path: Path
) -> None:
    service.start()
    process = pipeline(tmp_path / "spool", service.url)
    process.request("put", 0, 199)

    process.request("exit")
    process.process.wait()

    assert service.numbers == list(range(200))


@pytest.mark.parametrize("queue_size", [16, 10_000])
@pytest.mark.parametrize("seed", range(2))
def test_a_kill_at_a_random_instant_loses_only_events_in_memory(
    seed: int, queue_size: int, service: Service, pipeline: Starter, tmp_path: Path
) -> None:
    rng = Random(seed)  # noqa: S311 - when to kill, not a secret
    generations = 3
    service.start()
    for generation in range(generations):
        process = pipeline(tmp_path / "spool", service.url, f"queue_size={queue_size}")
        process.request("put", generation * 1000, generation * 1000 + 99)
        assert process.request("drain") == "True"
        process.send("put", generation * 1000 + 100, generation * 1000 + 499)
        time.sleep(rng.uniform(0, 0.1))
        process.kill()

    assert pipeline(tmp_path / "spool", service.url).request("drain") == "True"

    arrived = list(dict.fromkeys(service.numbers))
    assert arrived == sorted(arrived)
    for generation in range(generations):
        numbers = [n for n in arrived if n // 1000 == generation]
        assert numbers[:100] == list(range(generation * 1000, generation * 1000 + 100))
        missing_before_the_last = numbers[-1] + 1 - generation * 1000 - len(numbers)
        # Events that overflowed are on disk although earlier ones were still in memory.
        assert missing_before_the_last <= (queue_size + 1 if queue_size < 500 else 0)
