"""What Kafka's client reports of its connections: errors, logged now and then; a login that stays refused is an end.

The client itself tries for ever, several times a second, and its password cannot change while it runs.
"""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Final

from confluent_kafka import KafkaError

from headwater.errors import UnavailableError

log = logging.getLogger(__name__)

CALM: Final[Mapping[str, int]] = {
    "log_level": 2,  # what it logs as an error comes to `Login.failed`, too
    "reconnect.backoff.ms": 1000,
}
"""The settings of a client whose errors come here; without them a refused login is repeated 20 times a second."""
_PATIENCE_S: Final = 60.0
_OVER_AFTER_S: Final = 90.0
"""A login not refused for so long was accepted since: the client reports the same error only every 30 s, and only after
requests in progress, of 10 s each."""
_SAY_AGAIN_AFTER_S: Final = 300.0


class Login:
    """Whether the brokers at `bootstrap` refuse the login. For one thread."""

    def __init__(self, bootstrap: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._bootstrap = bootstrap
        self._monotonic = monotonic
        self._since_s = 0.0
        self._last_s = float("-inf")
        self._reason: str | None = None
        self._said_s: dict[int, float] = {}
        """When each kind of error was last logged."""

    @property
    def refusal(self) -> UnavailableError | None:
        """The error if the login was refused last; None if it was not, or was accepted since."""
        if self._reason is None or self._monotonic() - self._last_s > _OVER_AFTER_S:
            return None
        return UnavailableError(
            f"Kafka at {self._bootstrap} refuses the login: {self._reason}; "
            "check --client sasl.mechanism, sasl.username and sasl.password"
        )

    def failed(self, error: KafkaError) -> None:
        """Take an error of the client: its `error_cb`."""
        now_s, code = self._monotonic(), error.code()
        if code == KafkaError._AUTHENTICATION:
            if self.refusal is None:
                self._since_s = now_s
            self._last_s, self._reason = now_s, error.str()
        if now_s - self._said_s.get(code, float("-inf")) >= _SAY_AGAIN_AFTER_S:
            self._said_s[code] = now_s
            log.warning("Kafka's client has an error", extra={"bootstrap": self._bootstrap, "fault": error.str()})

    def received(self) -> None:
        """Note that the client received something, so its login was accepted."""
        self._reason = None

    def check(self) -> None:
        """Return if the login may still be accepted.

        Raises:
            UnavailableError: it has been refused for a minute.
        """
        refusal = self.refusal
        if refusal is not None and self._last_s - self._since_s >= _PATIENCE_S:
            raise refusal
