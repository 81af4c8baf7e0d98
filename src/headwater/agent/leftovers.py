"""Delivery of events that ended executions left in spools, by the agent itself, without a worker.

The couriers of an execution end with it. Events not delivered by then stay in spools without an owner, as do those of a
killed worker. The agent opens an emitter of its own for their targets, for as long as events are left. An execution
for the same targets may adopt a spool first; a spool has one owner.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from headwater.agent.deliveries import Deliveries
from headwater.agent.deploying import checked
from headwater.agent.endpoints import Endpoint
from headwater.agent.messages import Pipeline
from headwater.agent.states import DeliveryCounts, Execution, Health
from headwater.agent.store import AgentStore
from headwater.emit.spool_paths import is_anything_waiting, is_clear, is_left
from headwater.errors import InvalidPipelineError
from headwater.signing.keyfile import load_or_create

if TYPE_CHECKING:
    from headwater.emit.config import EmitConfig

log = logging.getLogger(__name__)

LOOK_EVERY_S: Final = 15.0
"""How often to look for spools without an owner."""
_CHECK_EVERY_S: Final = 1.0
_JOIN_S: Final = 2.0

_Targets = tuple[str | None, str | None]


class _Waiting(NamedTuple):
    """Events wait, or may wait; `why`, if known."""

    why: str | None


@dataclass(slots=True)
class _Sending:
    """A running emitter; `why` its events wait now, if known."""

    thread: threading.Thread | None = None
    why: str | None = None
    is_over: bool = False
    is_to_end: threading.Event = field(default_factory=threading.Event)


class Leftovers:
    """Sends leftover events, with one thread for each combination of targets while events are left for it.

    All methods are called in the agent's event loop; threads call `wake` when `take` has something to return.
    """

    def __init__(
        self, home: Path, store: AgentStore, allowed: Sequence[Endpoint] | None, wake: Callable[[], None]
    ) -> None:
        """`allowed` are the only endpoints that events are sent to; None: any."""
        self._home = home
        self._store = store
        self._allowed = allowed
        self._wake = wake
        self._deliveries = Deliveries()
        self._sendings: dict[_Targets, _Sending] = {}
        self._configs: dict[tuple[str, str, tuple[tuple[str, str], ...]], EmitConfig | str | None] = {}

    def take(self) -> dict[str, DeliveryCounts]:
        """The delivery counts since the last call, by run."""
        return self._deliveries.take()

    @property
    def is_busy(self) -> bool:
        """Whether an emitter is running."""
        return any(not sending.is_over for sending in self._sendings.values())

    def look(self, ended: Iterable[Execution], *, is_idle: bool) -> list[tuple[Execution, Health]]:
        """Start sending the leftover events of ended and of forgotten executions; returns the health of `ended` now.

        Args:
            ended: executions that have ended.
            is_idle: whether no execution is active that may have adopted their spools.
        """
        known: dict[tuple[int, int], _Waiting | None] = {}
        current = []
        for one in ended:
            version = one.job_id, one.version
            if version not in known:
                known[version] = self._waiting_for(self._store.version(*version).pipeline, is_idle=is_idle)
            current.append((one, _health_with(one.health, known[version])))
        for pipeline in self._store.forgotten_with_waiting():
            if self._waiting_for(pipeline, is_idle=is_idle) is None:
                self._store.drop_forgotten(pipeline)
        return [(one, health) for one, health in current if health != one.health]

    def close(self) -> None:
        """Stop all emitters; undelivered events stay in the spools."""
        for sending in self._sendings.values():
            sending.is_to_end.set()
        for sending in self._sendings.values():
            if sending.thread is not None:
                sending.thread.join(_JOIN_S)

    def _waiting_for(self, pipeline: Pipeline, *, is_idle: bool) -> "_Waiting | None":
        """Whether events of the pipeline's executions wait, and why; None if none wait."""
        if not is_anything_waiting(self._home / "spool"):
            return None
        config = self._config(pipeline)
        if isinstance(config, str):
            return _Waiting(config)
        if config is None or self._is_done(config, is_idle=is_idle):
            return None
        sending = self._sendings.get(_targets(config))
        return _Waiting(None if sending is None else sending.why)

    def _is_done(self, config: "EmitConfig", *, is_idle: bool) -> bool:
        """Whether no event is left for the targets; otherwise makes sure that an emitter sends them."""
        targets = _targets(config)
        sending = self._sendings.get(targets)
        if sending is not None and not sending.is_over:
            return False
        if is_clear(config):
            return True
        with contextlib.suppress(OSError):
            if not is_left(config):
                return is_idle
            sending = self._sendings[targets] = _Sending(why=None if sending is None else sending.why)
            work = partial(self._send, config, sending)
            sending.thread = threading.Thread(target=work, name="headwater-leftovers", daemon=True)
            sending.thread.start()
        return False

    def _send(self, config: "EmitConfig", sending: _Sending) -> None:
        # Imported here: the transports' libraries take 5 MB, which an agent without leftovers saves.
        from headwater.emit.emitter import Emitter

        reported: object = None
        try:
            key = load_or_create(self._home)
            with Emitter.of_node(config, key, observe=self._deliveries) as emitter:
                while not sending.is_to_end.wait(_CHECK_EVERY_S):
                    if (stats := emitter.stats()) != reported:
                        reported, sending.why = stats, stats.last_error
                        self._wake()
                    if emitter.settle(_CHECK_EVERY_S) and emitter.is_empty:
                        break
        except Exception as fault:
            sending.why = f"{type(fault).__name__} in the agent"
            log.exception("cannot send the events that ended executions left in their spools")
        sending.is_over = True
        self._wake()

    def _config(self, pipeline: Pipeline) -> "EmitConfig | str | None":
        """The pipeline's emitter configuration; None if it emits nothing, or the reason if it is refused now."""
        key = (pipeline.source, pipeline.path, tuple(sorted(pipeline.settings.items())))
        if key not in self._configs:
            self._configs[key] = self._read(pipeline)
        return self._configs[key]

    def _read(self, pipeline: Pipeline) -> "EmitConfig | str | None":
        from headwater.emission import emit_config  # as in `_send`

        try:
            lineage = checked(pipeline, self._allowed).lineage
        except InvalidPipelineError as refused:
            return f"not sent, because the pipeline is invalid now: {str(refused).splitlines()[0]}"
        if not lineage.enabled:
            return None
        return replace(emit_config(lineage, self._home), drain_timeout_s=0.0, heartbeat_s=None)


def _health_with(health: Health, waits: _Waiting | None) -> Health:
    if waits is None:
        return health.without_waiting()
    return replace(health, last_error=waits.why) if health.waiting and waits.why else health


def _targets(config: "EmitConfig") -> _Targets:
    return (
        None if config.http is None else config.http.target,
        None if config.file is None else config.file.target,
    )
