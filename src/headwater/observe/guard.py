"""The one place where lineage may fail."""

import logging
from collections.abc import Callable
from typing import TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


class Guard:
    """Runs what observes a pipeline; its failures are counted and logged, and the pipeline goes on.

    Attributes:
        failures: how many observations failed so far.
    """

    def __init__(self) -> None:
        self.failures = 0

    def attempt(self, what: str, observe: Callable[[], T], otherwise: T) -> T:
        """What `observe` gives, or `otherwise` if it fails in any way."""
        try:
            return observe()
        except Exception as failure:
            # Only the class: a message may quote a record.
            self.failures += 1
            log.warning("lineage observation failed", extra={"observation": what, "error": type(failure).__name__})
            return otherwise
