"""A transport with a callback for each outcome."""

import logging
from collections.abc import Callable, Sequence

from headwater.emit.transport import Outcome, Transport

log = logging.getLogger(__name__)

Observe = Callable[[str, bytes, Outcome], None]
"""Called with the transport's name, an event, and the outcome of this attempt, by the transport's one thread."""


class ObservedTransport:
    """Delegates to a transport, and reports the outcome of each event."""

    def __init__(self, transport: Transport, observe: Observe) -> None:
        self._transport = transport
        self._observe = observe

    @property
    def name(self) -> str:
        """The transport's own."""
        return self._transport.name

    @property
    def target(self) -> str:
        """The transport's own."""
        return self._transport.target

    def send_batch(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        """Deliver events through the transport, and report each outcome."""
        outcomes = self._transport.send_batch(events)
        for event, outcome in zip(events, outcomes, strict=False):
            try:
                self._observe(self.name, event, outcome)
            except Exception:
                log.exception("unexpected error in the callback of a lineage transport")
        return outcomes

    def close(self) -> None:
        """Close the transport."""
        self._transport.close()
