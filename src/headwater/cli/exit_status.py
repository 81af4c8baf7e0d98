"""The exit statuses of all commands."""

from typing import Final

from headwater.errors import HeadwaterError, UntrustedEventError, UntrustedNoteError

IS_BAD: Final = 1
"""The command worked, and the result is negative: a run failed, a rule is broken, a change breaks something."""
NOT_DONE: Final = 2
"""The command could not do its work: invalid arguments or input, or an unsuitable machine. typer uses it, too."""

FAULT: Final = 70
"""An unexpected error: a bug of Headwater. `sysexits.h` calls it EX_SOFTWARE."""
CUT: Final = 141
"""The reader of its output stopped, as `head` does: the status that shells give to a process ended by SIGPIPE."""


def status_of(error: HeadwaterError) -> int:
    """The exit status for an error."""
    return IS_BAD if isinstance(error, UntrustedEventError | UntrustedNoteError) else NOT_DONE
