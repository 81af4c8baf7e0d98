"""The exit statuses of every command: what a script may conclude from one."""

from typing import Final

from headwater.errors import HeadwaterError, UntrustedEventError, UntrustedNoteError

IS_BAD: Final = 1
"""It was done, and the answer is bad: a run failed, a rule is broken, a change breaks something."""
NOT_DONE: Final = 2
"""It could not be done: the call, its input, or what it needs here is not as it must be. typer has it so, too."""

FAULT: Final = 70
"""Nobody expected how it ended: a fault of Headwater's own. `sysexits.h` calls it EX_SOFTWARE."""
CUT: Final = 141
"""Who read its output stopped, as `head` does: what shells say of a process that SIGPIPE ended."""


def status_of(error: HeadwaterError) -> int:
    """The exit status of a command that ends with this error."""
    return IS_BAD if isinstance(error, UntrustedEventError | UntrustedNoteError) else NOT_DONE
