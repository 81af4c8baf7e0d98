"""Contains failures of lineage code, so that they never reach the pipeline."""

import logging
from collections.abc import Callable
from typing import TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


class Guard:
    """Runs observer code; its exceptions are counted and logged, never raised.

    Attributes:
        failures: the number of failed observations so far.
    """

    def __init__(self) -> None:
        self.failures = 0

    def attempt(self, what: str, observe: Callable[[], T], otherwise: T) -> T:
        """The result of `observe`, or `otherwise` if it raises."""
        try:
            return observe()
        except Exception as failure:
            # Only the class is logged: a message may quote a record.
            self.failures += 1
            log.warning("lineage observation failed", extra={"observation": what, "error": type(failure).__name__})
            return otherwise
