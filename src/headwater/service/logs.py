"""Logging of the service's processes, to standard error."""

import logging
import sys
from collections.abc import Mapping
from typing import Final


class _WithExtras(logging.Formatter):
    """Appends a record's extras to the message as KEY='VALUE', unless the message contains them."""

    _OWN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

    def formatMessage(self, record: logging.LogRecord) -> str:
        in_message = record.args if isinstance(record.args, Mapping) else {}
        extras = (
            f" {key}={value!r}" for key, value in vars(record).items() if key not in self._OWN | in_message.keys()
        )
        return super().formatMessage(record) + "".join(extras)


def log_to_stderr() -> None:
    """Write warnings and errors to standard error, a line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_WithExtras("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
