"""What executions that are over have left in the spools: sent on by the agent itself, which needs no worker for that.

The couriers of an execution end with it. What they have not delivered by then lies in spools that are nobody's, and
so does what a killed worker left; each is taken up by an emitter of the agent's own, for as long as something is left
for its targets. An execution for the same targets may take it up as well, whichever comes first: a spool has one owner.
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
from headwater.agent.states import Execution, Health, WentOut
from headwater.agent.store import AgentStore
from headwater.emit.places import is_anything_waiting, is_clear, is_left
from headwater.errors import InvalidPipelineError
from headwater.signing.keyfile import load_or_create

if TYPE_CHECKING:
    from headwater.emit.config import EmitConfig

log = logging.getLogger(__name__)

LOOK_EVERY_S: Final = 15.0
"""How often spools are looked for that came to be nobody's."""
_FEEL_EVERY_S: Final = 1.0
_JOIN_S: Final = 2.0

_Targets = tuple[str | None, str | None]


class _Waits(NamedTuple):
    """Events wait, or may; `why`, as far as it is known."""

    why: str | None


@dataclass(slots=True)
class _Sending:
    """An emitter at work; `why` something waits for it now, if so."""

    thread: threading.Thread | None = None
    why: str | None = None
    is_over: bool = False
    is_told_to_end: threading.Event = field(default_factory=threading.Event)


class Leftovers:
    """Sends what is left, with a thread for each pair of targets while something is left for them.

    All methods are called in the agent's event loop; `wake` is called by threads, when there is something to take.
    """

    def __init__(
        self, home: Path, store: AgentStore, allowed: Sequence[Endpoint] | None, wake: Callable[[], None]
    ) -> None:
        """`allowed` are the only endpoints that are sent to; None: any."""
        self._home = home
        self._store = store
        self._allowed = allowed
        self._wake = wake
        self._deliveries = Deliveries()
        self._sendings: dict[_Targets, _Sending] = {}
        self._configs: dict[tuple[str, str, tuple[tuple[str, str], ...]], EmitConfig | str | None] = {}

    def take(self) -> dict[str, WentOut]:
        """What became of events since the last call, by run."""
        return self._deliveries.take()

    @property
    def is_busy(self) -> bool:
        """Whether something is being sent."""
        return any(not sending.is_over for sending in self._sendings.values())

    def look(self, ended: Iterable[Execution], *, is_idle: bool) -> list[tuple[Execution, Health]]:
        """Begin to send what is left of executions, and of those that are forgotten; what is known of the former now.

        Args:
            ended: executions that are over.
            is_idle: whether no execution is under way that may have taken up what others left.
        """
        known: dict[tuple[int, int], _Waits | None] = {}
        felt = []
        for one in ended:
            version = one.job_id, one.version
            if version not in known:
                known[version] = self._waits(self._store.version(*version).pipeline, is_idle=is_idle)
            felt.append((one, _felt(one.health, known[version])))
        for pipeline in self._store.left_by():
            if self._waits(pipeline, is_idle=is_idle) is None:
                self._store.drop_left_by(pipeline)
        return [(one, health) for one, health in felt if health != one.health]

    def close(self) -> None:
        """End all sending; what is left then stays in the spools."""
        for sending in self._sendings.values():
            sending.is_told_to_end.set()
        for sending in self._sendings.values():
            if sending.thread is not None:
                sending.thread.join(_JOIN_S)

    def _waits(self, pipeline: Pipeline, *, is_idle: bool) -> "_Waits | None":
        """What is known of what the pipeline's executions left; None where nothing of it waits."""
        if not is_anything_waiting(self._home / "spool"):
            return None
        config = self._config(pipeline)
        if isinstance(config, str):
            return _Waits(config)
        if config is None or self._is_done(config, is_idle=is_idle):
            return None
        sending = self._sendings.get(_targets(config))
        return _Waits(None if sending is None else sending.why)

    def _is_done(self, config: "EmitConfig", *, is_idle: bool) -> bool:
        """Whether nothing is left for the targets; if something is, see that it is sent."""
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
        # The clients of transports take 5 MB, which an agent whose executions leave nothing does without.
        from headwater.emit.emitter import Emitter

        felt: object = None
        try:
            key = load_or_create(self._home)
            with Emitter.of_node(config, key, observe=self._deliveries) as emitter:
                while not sending.is_told_to_end.wait(_FEEL_EVERY_S):
                    if (stats := emitter.stats()) != felt:
                        felt, sending.why = stats, stats.last_error
                        self._wake()
                    if emitter.settle(_FEEL_EVERY_S) and emitter.is_empty:
                        break
        except Exception as fault:
            sending.why = f"{type(fault).__name__} in the agent"
            log.exception("what executions left cannot be sent")
        sending.is_over = True
        self._wake()

    def _config(self, pipeline: Pipeline) -> "EmitConfig | str | None":
        """Where the pipeline's events go; None if nowhere, and why it is refused now, if it is."""
        key = (pipeline.source, pipeline.path, tuple(sorted(pipeline.settings.items())))
        if key not in self._configs:
            self._configs[key] = self._read(pipeline)
        return self._configs[key]

    def _read(self, pipeline: Pipeline) -> "EmitConfig | str | None":
        from headwater.emission import emit_config  # as in `_send`

        try:
            lineage = checked(pipeline, self._allowed).lineage
        except InvalidPipelineError as refused:
            return f"not sent, for its pipeline is refused now: {str(refused).splitlines()[0]}"
        if not lineage.enabled:
            return None
        return replace(emit_config(lineage, self._home), drain_timeout_s=0.0, heartbeat_s=None)


def _felt(health: Health, waits: _Waits | None) -> Health:
    if waits is None:
        return health.without_waiting()
    return replace(health, last_error=waits.why) if health.waiting and waits.why else health


def _targets(config: "EmitConfig") -> _Targets:
    return (
        None if config.http is None else config.http.target,
        None if config.file is None else config.file.target,
    )
