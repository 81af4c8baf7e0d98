"""The exit statuses of every command: what a script may conclude from one."""

from typing import Final

from headwater.errors import HeadwaterError, UntrustedEventError, UntrustedNoteError

IS_BAD: Final = 1
"""It was done, and the answer is bad: a run failed, a rule is broken, a change breaks something."""
NOT_DONE: Final = 2
"""It could not be done: the call, its input, or what it needs here is not as it must be. typer has it so, too."""


def status_of(error: HeadwaterError) -> int:
    """The exit status of a command that ends with this error."""
    return IS_BAD if isinstance(error, UntrustedEventError | UntrustedNoteError) else NOT_DONE
