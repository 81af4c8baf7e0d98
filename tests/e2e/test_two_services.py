"""Two services on one PostgreSQL act as one: each accepts events, and each shows the events of both."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from headwater.signing.jwks import encoded_public_key
from headwater.signing.note import NoteSigner
from headwater.signing.secretfile import create_once
from headwater.store.opening import open_store
from tests.e2e.test_kill_service import Load, kill_at_random_times
from tests.support.app import event
from tests.support.postgres import Cluster, running_cluster
from tests.support.service import Service, eventually, running

KILLS = 2
SEED = bytes(32)
_PUBLIC = NoteSigner.from_seed("log.example.org", SEED).verifier.public_key
LOG_KEY = json.dumps(
    {"kty": "OKP", "crv": "Ed25519", "kid": "log.example.org", "x": encoded_public_key(_PUBLIC), "d": "A" * 43}
).encode()
"""The key of the log that they share."""


@contextmanager
def serving(folder: Path, url: str, mode: str = "--beside") -> Iterator[Service]:
    create_once(folder / "keys" / "log.key", LOG_KEY)
    with running(folder, mode, HEADWATER_DATABASE_URL=url) as service:
        yield service


@pytest.fixture
def url(cluster: Cluster) -> str:
    return cluster.new_database()


def post(service: Service, name: str) -> None:
    raw = json.dumps(event(run={"runId": name}, job={"namespace": "etl", "name": name}))
    assert httpx.post(f"{service.url}/api/v1/lineage", content=raw, timeout=30).status_code == 201


def jobs(service: Service) -> set[str]:
    return {job["name"] for job in httpx.get(f"{service.url}/api/v1/jobs?limit=1000", timeout=30).json()["jobs"]}


def log_size(service: Service) -> int:
    return int(httpx.get(f"{service.url}/api/v1/summary", timeout=30).headers["headwater-log-size"])


class Listener:
    """Reads a service's stream of changes until it has 20 of them."""

    def __init__(self, service: Service) -> None:
        self.positions: list[int] = []
        self.is_open = threading.Event()
        self._url = f"{service.url}/api/v1/stream"
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        assert self.is_open.wait(30)

    def _listen(self) -> None:
        with httpx.stream("GET", self._url, timeout=60) as response:
            for line in response.iter_lines():
                self.is_open.set()
                if line.startswith("id: "):
                    self.positions.append(int(line[4:]))
                    if len(self.positions) == 20:
                        return


def test_each_service_shows_the_events_of_both_and_streams_them_in_log_order(tmp_path: Path, url: str) -> None:
    with serving(tmp_path / "one", url) as first, serving(tmp_path / "other", url, "--alone") as second:
        listeners = [Listener(service) for service in (first, second)]

        for number in range(10):
            post(first, f"a{number}")
            post(second, f"b{number}")

        names = {f"{service}{number}" for service in "ab" for number in range(10)}
        assert eventually(lambda: jobs(first) == jobs(second) == names)
        assert eventually(lambda: log_size(first) == log_size(second) == 20)
        assert eventually(lambda: all(len(listener.positions) == 20 for listener in listeners))
        assert [listener.positions for listener in listeners] == [list(range(20))] * 2


def test_no_acknowledged_event_is_lost_or_stored_twice_while_one_of_two_services_is_killed(
    tmp_path: Path, url: str
) -> None:
    with serving(tmp_path / "one", url) as killed, serving(tmp_path / "other", url, "--alone") as other:
        loads = [Load(service.url, first=number * 1_000_000) for number, service in enumerate((killed, other, other))]

        kill_at_random_times(killed, KILLS)

        for load in loads:
            load.stop()
        with closing(open_store(url)) as store:
            stored = [logged.digest for logged in store.logged(range(store.size()))]
        acknowledged = {digest for load in loads for digest in load.acknowledged}
        assert len(acknowledged) > KILLS
        assert acknowledged <= set(stored)
        assert len(stored) == len(set(stored))
        assert eventually(lambda: log_size(killed) == log_size(other) == len(stored))
        assert jobs(killed) == jobs(other)


def test_without_its_database_the_service_answers_503_and_it_recovers_with_the_database(tmp_path: Path) -> None:
    with running_cluster() as cluster, serving(tmp_path, cluster.url("postgres")) as service:
        post(service, "before")
        cluster.stop()
        assert eventually(lambda: httpx.get(f"{service.url}/healthz", timeout=30).status_code == 503)
        raw = json.dumps(event(run={"runId": "lost"}))

        refusals = [httpx.post(f"{service.url}/api/v1/lineage", content=raw, timeout=30) for _ in range(2)]

        assert [(response.status_code, response.headers["retry-after"]) for response in refusals] == [(503, "1")] * 2
        cluster.start()
        assert eventually(lambda: httpx.post(f"{service.url}/api/v1/lineage", content=raw, timeout=30).is_success)
        post(service, "after")
        assert jobs(service) == {"before", "load", "after"}
        assert httpx.get(f"{service.url}/healthz", timeout=30).json() == {"status": "ok"}
