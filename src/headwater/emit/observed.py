"""A transport that somebody looks at."""

import logging
from collections.abc import Callable, Sequence

from headwater.emit.transport import Outcome, Transport

log = logging.getLogger(__name__)

Observe = Callable[[str, bytes, Outcome], None]
"""Is told the transport's name, an event, and what became of it at this try. Called by the transport's one thread."""


class Observed:
    """Carries events as the transport does, and tells what became of each."""

    def __init__(self, transport: Transport, observe: Observe) -> None:
        self._transport = transport
        self._observe = observe

    @property
    def name(self) -> str:
        """That of the transport."""
        return self._transport.name

    @property
    def target(self) -> str:
        """That of the transport."""
        return self._transport.target

    def send_some(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        """Deliver events as the transport does."""
        outcomes = self._transport.send_some(events)
        for event, outcome in zip(events, outcomes, strict=False):
            try:
                self._observe(self.name, event, outcome)
            except Exception:
                log.exception("fault in who looks at a lineage transport")
        return outcomes

    def close(self) -> None:
        """Close the transport."""
        self._transport.close()
