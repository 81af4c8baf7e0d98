"""Why a file cannot be read, in words."""


def why_unread(fault: OSError | UnicodeDecodeError) -> str:
    """As the system says it.

    >>> why_unread(FileNotFoundError(2, "No such file or directory"))
    'No such file or directory'
    """
    if isinstance(fault, UnicodeDecodeError):
        return "expected text in UTF-8"
    return fault.strerror or "cannot be read"
