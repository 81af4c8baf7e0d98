"""Every error that Headwater raises, by what the caller can do about it.

HeadwaterError
├── InvalidInputError         correct the input
│   ├── InvalidEventError         an event's bytes: the message names the path of the first bad field
│   │   └── MalformedJsonError        not even JSON: no path, a position
│   ├── InvalidNameError          a node id or dataset name that cannot be read
│   ├── InvalidPipelineError      a pipeline file: every problem at once, each with its line
│   └── IncompatibleSchemaError   a topic's schema: the message names the subject, both versions and the rule that broke
├── UntrustedEventError       do not trust it: unsigned, unknown key, or bytes changed since signing
├── UntrustedNoteError        do not trust it: a checkpoint that cannot be read, or that the log's key did not sign
├── UnauthenticatedError      authenticate: no token, or one that is not valid
├── ForbiddenError            ask for more rights, or request less: the message names the role and scope needed
├── NotFoundError             nothing has that name
├── UnavailableError          retry later: a service, a store or a disk does not answer now
└── SetupError                fix the machine: Java missing, port taken, disk full; the message says how
"""


class HeadwaterError(Exception):
    """The root of the tree. The message is for people and never holds record values or key material."""

    is_retriable: bool = False
    """Whether the same call may succeed later, after a fault has passed or a person has fixed it."""

    def __init__(self, message: str, *, is_retriable: bool | None = None) -> None:
        super().__init__(message)
        if is_retriable is not None:
            self.is_retriable = is_retriable


class InvalidInputError(HeadwaterError):
    """The caller must correct the input."""


class InvalidEventError(InvalidInputError):
    """An event cannot be accepted; the message names the path of the first bad field.

    `missing` are the paths of all required fields that the event lacks.
    """

    def __init__(self, message: str, missing: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing


class MalformedJsonError(InvalidEventError):
    """The bytes are not a JSON document; the message gives the position."""


class InvalidNameError(InvalidInputError):
    """A node id, dataset name or job name cannot be read."""


class InvalidPipelineError(InvalidInputError):
    """A pipeline file is wrong; the message lists every problem."""


class IncompatibleSchemaError(InvalidInputError):
    """A new version of a topic's schema is incompatible with the previous one; the message names both and the rule."""


class UntrustedEventError(HeadwaterError):
    """An event is unsigned, signed by an unknown key, or changed since it was signed."""


class UntrustedNoteError(HeadwaterError):
    """A signed note or checkpoint cannot be read, or no trusted key signed it."""


class UnauthenticatedError(HeadwaterError):
    """The caller is not authenticated: the token is missing, unknown, revoked or expired."""

    is_retriable = True


class ForbiddenError(HeadwaterError):
    """The caller lacks the permission; the message names what is needed."""


class NotFoundError(HeadwaterError):
    """Nothing has that name."""


class UnavailableError(HeadwaterError):
    """A service, a store or a disk does not answer now; the same call may succeed later."""

    is_retriable = True


class SetupError(HeadwaterError):
    """The machine lacks something; the message says what to do."""
