"""The watcher: a cluster, the clock, and what they make known."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headwater.capture import kept
from headwater.capture.clock import now_ms
from headwater.capture.flink.events import Surroundings, event_of
from headwater.capture.flink.jobs import Details, Listed
from headwater.capture.flink.kept import KEPT, Kept
from headwater.capture.flink.life import Lives, Told
from headwater.capture.flink.rest import JOB_NAMESPACE, FlinkCluster
from headwater.capture.outlet import Outlet
from headwater.errors import UnavailableError

log = logging.getLogger(__name__)

_SAVE_EVERY_S: Final = 5.0
"""How long what is known may be unkept while runs just go on; starts and ends are kept at once."""
_SETTLE_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchConfig:
    """How to watch.

    Attributes:
        namespace: of the jobs; None for that of the cluster's configuration.
        state: the file that keeps what the watcher knows.
        interval_s: between two looks.
        heartbeat_s: how often a run that goes on is told anew.
        lost_after_s: how long a job must not have been listed before its run's end is inferred.
    """

    namespace: str | None
    state: Path
    interval_s: float
    heartbeat_s: int
    lost_after_s: float


class Watcher:
    """Watches one cluster, from one thread, until it is told to stop."""

    def __init__(self, config: WatchConfig, cluster: FlinkCluster, outlet: Outlet) -> None:
        known = kept.load_as(config.state, KEPT.validate_python)
        self._config = config
        self._cluster = cluster
        self._outlet = outlet
        self._namespace = config.namespace or known.namespace
        self._version = known.version
        self._lives = Lives(
            known.runs,
            known.over,
            heartbeat_ms=config.heartbeat_s * 1000,
            lost_after_ms=int(config.lost_after_s * 1000),
        )
        self._is_blind: bool | None = None
        """Whether the last look failed; None before the first."""
        self._unread: frozenset[str] = frozenset()
        """The jobs whose details the last look wanted and could not have."""
        self._save_at = 0.0

    def run(self, stop: threading.Event, ready: Callable[[int], None]) -> None:
        """Watch; `ready` is called with the number of jobs that go on once the cluster was looked at first.

        Raises:
            SetupError: how its jobs are named is neither chosen nor shown by the cluster.
        """
        is_ready = False
        while not stop.is_set():
            told = self._look()
            if not is_ready and self._is_blind is False:
                ready(len(self._lives.runs))
                is_ready = True
            self._tell(told)
            stop.wait(self._config.interval_s)
        self._save()

    def _look(self) -> list[Told]:
        began_ms = now_ms()
        try:
            jobs = self._cluster.jobs()
            if self._is_blind is not False:
                self._get_to_know()
        except UnavailableError as fault:
            if not self._is_blind:
                log.warning("the Flink cluster cannot be seen", extra={"fault": str(fault)})
            self._is_blind = True
            return self._lives.blind(str(fault), began_ms, now_ms())
        self._is_blind = False
        return self._lives.look(jobs, self._details(jobs), now_ms())

    def _get_to_know(self) -> None:
        about = self._cluster.about()
        self._version = about.version
        self._namespace = about.namespace(self._config.namespace, self._namespace)

    def _details(self, jobs: Sequence[Listed]) -> dict[str, Details]:
        """Those that are wanted and can be had: one job that cannot be read hides no other."""
        found: dict[str, Details] = {}
        wanted = self._lives.wanted(jobs, now_ms())
        unread = self._unread.difference(wanted)  # what was not asked about is as it was
        for job_id in wanted:
            try:
                details = self._cluster.details(job_id)
            except UnavailableError as fault:
                level = logging.DEBUG if job_id in self._unread else logging.WARNING
                log.log(level, "a job's details cannot be read", extra={"job_id": job_id, "fault": str(fault)})
                unread |= {job_id}
                continue
            if details is not None:
                found[job_id] = details
        self._unread = unread.intersection(job.id for job in jobs)
        return found

    def _tell(self, told: Sequence[Told]) -> None:
        around = Surroundings(
            self._namespace or JOB_NAMESPACE, self._cluster.url, self._config.heartbeat_s, self._version
        )
        for each in told:
            self._outlet.put(event_of(each, around))
        is_urgent = any(each.state != "RUNNING" or each.takes_back for each in told)
        if is_urgent or time.monotonic() >= self._save_at:
            self._save()
            self._save_at = time.monotonic() + _SAVE_EVERY_S

    def _save(self) -> None:
        """Keep what is known, once all that was told is safe."""
        if not self._outlet.settle(_SETTLE_S):
            log.warning("lineage events are not safe yet; the state is kept later")
            return
        over = None if self._lives.over is None else sorted(self._lives.over)
        known = Kept([*self._lives.runs.values()], over, self._namespace, self._version)
        kept.save_all_of(self._config.state, known)
