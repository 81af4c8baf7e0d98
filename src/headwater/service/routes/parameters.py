"""Parameters that several routes have."""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Path, Query
from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticUseDefault

from headwater.model.credentials import without_secrets
from headwater.model.numbers import Whole
from headwater.service.http.as_of import TIME_AS_TEXT, time_us, until_us, with_lost_plus

DATASET: Final = "/namespaces/{namespace:encoded}/datasets/{name:encoded}"
JOB: Final = "/namespaces/{namespace:encoded}/jobs/{name:encoded}"
"""The paths of a dataset and a job, below `/api/v1`."""

MAX_PAGE: Final = 1_000
"""Limit on the items of one page."""

EITHER_CASE: Final = BeforeValidator(lambda text: text.upper() if isinstance(text, str) else text)
"""For an enum value that Marquez has in upper case, and accepts in either case."""

SMALL: Final = BeforeValidator(lambda text: text.lower() if isinstance(text, str) else text)
"""For an enum value that Marquez's API documents in lower case; accepted in either case, too."""

AS_NAMED: Final = AfterValidator(lambda text: text and without_secrets(text))
"""For names that may be requested with a password in them."""

_MAX_DEPTH: Final = 10_000


def _or_default(text: object) -> object:
    """The value sent; a parameter with an empty value counts as absent, as in Marquez."""
    if isinstance(text, str) and (not text or text.isspace()):
        raise PydanticUseDefault
    return text


OR_DEFAULT: Final = BeforeValidator(_or_default)
Limit = Annotated[Whole, OR_DEFAULT, Query(ge=0, le=MAX_PAGE, description="The largest number of items to return.")]
Offset = Annotated[Whole, OR_DEFAULT, Query(ge=0, le=2**53, description="The number of items to skip.")]
A_TIME: Final = "a time with its zone, or milliseconds since 1970."
Time = Annotated[int | None, BeforeValidator(time_us), TIME_AS_TEXT]
"""In microseconds since 1970."""
LastTime = Annotated[int | None, BeforeValidator(until_us), TIME_AS_TEXT]
"""The last microsecond that counts, since 1970."""
Moment = Annotated[
    datetime | None,
    BeforeValidator(lambda text: with_lost_plus(text) if isinstance(text, str) else text),
    OR_DEFAULT,
]
"""A time as Marquez's clients send it; one without an offset is in UTC."""
At = Annotated[Time, Query(description=f"The time at which silence is measured: {A_TIME} By default `asOf`, else now.")]
NamespaceName = Annotated[str, Path(description="A namespace, percent-encoded, slashes too.")]
ResourceName = Annotated[str, Path(description="The name of a job or dataset, percent-encoded, slashes too.")]
RunId = Annotated[str, Path(description="A run id.")]
NodeId = Annotated[
    str,
    Query(alias="nodeId", description="`dataset:NAMESPACE:NAME`, `datasetField:NAMESPACE:NAME:FIELD` or `job:…`."),
]
Depth = Annotated[
    Whole,
    OR_DEFAULT,
    AfterValidator(lambda depth: max(0, min(depth, _MAX_DEPTH))),
    Query(description="How many hops away from the node at most; a negative number counts as 0."),
]

NOT_FOUND: Final[dict[int | str, dict[str, Any]]] = {
    404: {"description": "Not found, or a number that cannot be read."}
}
"""Without a model, as `specification.py` gives all errors their one shape: a model each would slow the start."""
WRONG: Final[dict[int | str, dict[str, Any]]] = {
    400: {"description": "A parameter is invalid."},
    **NOT_FOUND,
}
WRITTEN: Final[dict[int | str, dict[str, Any]]] = {
    400: {"description": "A parameter is invalid, or the body is not JSON."},
    403: {"description": "The service takes signed events only."},
    413: {"description": "The body is too large."},
    415: {"description": "The content type is not JSON, or the content encoding is not supported."},
    422: {"description": "A field of the body is invalid; the message names it."},
    503: {"description": "It could not be stored now; Retry-After says when to try again."},
}
"""The error responses of routes that write."""
