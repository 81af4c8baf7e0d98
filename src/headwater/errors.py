"""Every error Headwater raises, by what the caller can do about it.

HeadwaterError
├── InvalidInputError         mend the input
│   ├── InvalidEventError         an event's bytes: the message names the path of the first bad field
│   │   └── MalformedJsonError        not even JSON: no path, a position
│   ├── InvalidNameError          a node id or dataset name that cannot be read
│   ├── InvalidPipelineError      a pipeline file: every problem at once, each with its line
│   └── IncompatibleSchemaError   a topic's schema: the message names the subject, both versions and the rule that broke
├── UntrustedEventError       do not trust it: unsigned, unknown key, or bytes changed since signing
├── UntrustedNoteError        do not trust it: a checkpoint that is none, or that the log's key did not sign
├── UnauthenticatedError      say who you are: no token, or none that is good
├── ForbiddenError            ask for more rights, or for less: the message says which role and scope it takes
├── NotFoundError             nothing by that name
├── UnavailableError          try again later: a service, a store or a disk that does not answer now
└── SetupError                mend the machine: Java missing, port taken, disk full; the message says how
"""


class HeadwaterError(Exception):
    """The root of the tree. The message is for people and never holds record values or key material."""

    is_retriable: bool = False
    """Whether the very same call may go through later: once something is well again, or people have put it right."""


class InvalidInputError(HeadwaterError):
    """The caller must mend the input."""


class InvalidEventError(InvalidInputError):
    """An event cannot be taken; the message names the path of the first bad field.

    `missing` are the paths of all fields that it lacks.
    """

    def __init__(self, message: str, missing: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing


class MalformedJsonError(InvalidEventError):
    """The bytes are no JSON document; the message gives the position."""


class InvalidNameError(InvalidInputError):
    """A node id, dataset name or job name cannot be read."""


class InvalidPipelineError(InvalidInputError):
    """A pipeline file is wrong; the message lists every problem."""


class IncompatibleSchemaError(InvalidInputError):
    """A version of a topic's schema cannot follow the one before; the message says which, and what broke."""


class UntrustedEventError(HeadwaterError):
    """An event is unsigned, signed by an unknown key, or changed since it was signed."""

    def __init__(self, message: str, *, is_retriable: bool = False) -> None:
        super().__init__(message)
        self.is_retriable = is_retriable


class UntrustedNoteError(HeadwaterError):
    """A signed note or checkpoint cannot be read, or no trusted key signed it."""


class UnauthenticatedError(HeadwaterError):
    """Nobody is known to ask: a token is missing, unknown, revoked or out of time."""

    is_retriable = True


class ForbiddenError(HeadwaterError):
    """Who asks may not; the message says what it takes."""

    def __init__(self, message: str, *, is_retriable: bool = False) -> None:
        super().__init__(message)
        self.is_retriable = is_retriable


class NotFoundError(HeadwaterError):
    """There is nothing by that name."""


class UnavailableError(HeadwaterError):
    """A service, a store or a disk does not answer now; the same call may go through later."""

    is_retriable = True


class SetupError(HeadwaterError):
    """The machine lacks something; the message says what to do."""
