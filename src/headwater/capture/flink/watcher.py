"""The watcher: polls a cluster, and emits run updates."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headwater.capture import state_file
from headwater.capture.clock import now_ms
from headwater.capture.flink.events import ClusterContext, event_of
from headwater.capture.flink.jobs import Details, Listed
from headwater.capture.flink.lifecycle import Lifecycles, RunUpdate
from headwater.capture.flink.rest import JOB_NAMESPACE, FlinkCluster
from headwater.capture.flink.state import STATE_ADAPTER, WatcherState
from headwater.capture.outlet import Outlet
from headwater.errors import UnavailableError

log = logging.getLogger(__name__)

_SAVE_EVERY_S: Final = 5.0
"""How long the state may stay unsaved while runs just go on; starts and ends are saved at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchConfig:
    """The watcher's configuration.

    Attributes:
        namespace: the jobs' namespace; None for the one in the cluster's configuration.
        state: the file with the watcher's state.
        interval_s: seconds between two polls.
        heartbeat_s: how often an open run is reported again.
        lost_after_s: a run's end is inferred once its job was not listed for so long.
    """

    namespace: str | None
    state: Path
    interval_s: float
    heartbeat_s: int
    lost_after_s: float


class Watcher:
    """Watches one cluster in one thread, until told to stop."""

    def __init__(self, config: WatchConfig, cluster: FlinkCluster, outlet: Outlet) -> None:
        saved = state_file.load_as(config.state, STATE_ADAPTER.validate_python)
        self._config = config
        self._cluster = cluster
        self._outlet = outlet
        self._namespace = config.namespace or saved.namespace
        self._version = saved.version
        self._lifecycles = Lifecycles(
            saved.runs,
            saved.over,
            heartbeat_ms=config.heartbeat_s * 1000,
            lost_after_ms=int(config.lost_after_s * 1000),
        )
        self._has_failed: bool | None = None
        """Whether the last poll failed; None before the first."""
        self._unread: frozenset[str] = frozenset()
        """The jobs whose details the last poll needed and could not read."""
        self._save_at = 0.0

    def run(self, stop: threading.Event, ready: Callable[[int], None]) -> None:
        """Watch; `ready` is called with the number of open runs after the first poll.

        Raises:
            SetupError: the jobs' namespace is neither given nor shown by the cluster.
        """
        is_ready = False
        while not stop.is_set():
            updates = self._poll()
            if not is_ready and self._has_failed is False:
                ready(len(self._lifecycles.runs))
                is_ready = True
            self._emit(updates)
            stop.wait(self._config.interval_s)
        self._save()

    def _poll(self) -> list[RunUpdate]:
        began_ms = now_ms()
        try:
            jobs = self._cluster.jobs()
            if self._has_failed is not False:
                self._read_config()
        except UnavailableError as fault:
            if not self._has_failed:
                log.warning("cannot reach the Flink cluster", extra={"fault": str(fault)})
            self._has_failed = True
            return self._lifecycles.apply_failed_poll(str(fault), began_ms, now_ms())
        self._has_failed = False
        return self._lifecycles.apply_poll(jobs, self._details(jobs), now_ms())

    def _read_config(self) -> None:
        about = self._cluster.about()
        self._version = about.version
        self._namespace = about.namespace(self._config.namespace, self._namespace)

    def _details(self, jobs: Sequence[Listed]) -> dict[str, Details]:
        """The needed details that can be read; a job whose details cannot be read does not affect others."""
        found: dict[str, Details] = {}
        wanted = self._lifecycles.wanted(jobs, now_ms())
        unread = self._unread.difference(wanted)  # jobs that were not asked about stay as they were
        for job_id in wanted:
            try:
                details = self._cluster.details(job_id)
            except UnavailableError as fault:
                level = logging.DEBUG if job_id in self._unread else logging.WARNING
                log.log(level, "cannot read the details of a job", extra={"job_id": job_id, "fault": str(fault)})
                unread |= {job_id}
                continue
            if details is not None:
                found[job_id] = details
        self._unread = unread.intersection(job.id for job in jobs)
        return found

    def _emit(self, updates: Sequence[RunUpdate]) -> None:
        context = ClusterContext(
            self._namespace or JOB_NAMESPACE, self._cluster.url, self._config.heartbeat_s, self._version
        )
        for each in updates:
            self._outlet.put(event_of(each, context))
        is_urgent = any(each.state != "RUNNING" or each.is_retraction for each in updates)
        if is_urgent or time.monotonic() >= self._save_at:
            self._save()
            self._save_at = time.monotonic() + _SAVE_EVERY_S

    def _save(self) -> None:
        """Save the state, once all emitted events are safe."""
        if not self._outlet.settle():
            log.warning("lineage events are not safely stored yet; the state is saved later")
            return
        over = None if self._lifecycles.over is None else sorted(self._lifecycles.over)
        state = WatcherState([*self._lifecycles.runs.values()], over, self._namespace, self._version)
        state_file.save_all_of(self._config.state, state)
