"""Why a file cannot be read, as text."""


def why_unread(fault: OSError | UnicodeDecodeError) -> str:
    """The operating system's message, or the encoding error.

    >>> why_unread(FileNotFoundError(2, "No such file or directory"))
    'No such file or directory'
    """
    if isinstance(fault, UnicodeDecodeError):
        return "expected text in UTF-8"
    return fault.strerror or "cannot be read"
