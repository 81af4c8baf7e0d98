"""Refuses unknown query parameters: a misspelt one must not be ignored silently.

Our own routes refuse them all. Marquez's routes accept any, as its clients may send what they like, except those that
resemble `asOf` or `logSize`: an answer about now would be wrong for a request about the past.
"""

import re
from collections.abc import Callable, Coroutine, Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Final

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from headwater.errors import InvalidInputError
from headwater.service.http.paths import API

_DATASET: Final = "/namespaces/{namespace}/datasets/{name}"
_JOB: Final = "/namespaces/{namespace}/jobs/{name}"
_RUN: Final = "/jobs/runs/{run_id}"
_OF_MARQUEZ: Final = frozenset(
    {
        *("/lineage", "/column-lineage", "/runlineage/upstream", "/search", "/jobs", "/tags", "/tags/{name}"),
        *("/events", "/events/lineage", "/events/{namespace}", "/sources", "/sources/{name}"),
        *("/namespaces", "/namespaces/{name}", "/namespaces/{namespace}/datasets", "/namespaces/{namespace}/jobs"),
        *(f"{node}{rest}" for node in (_DATASET, _JOB) for rest in ("", "/versions", "/versions/{version}")),
        *(f"{node}/tags/{{tag}}" for node in (_DATASET, f"{_DATASET}/fields/{{field}}", _JOB)),
        *(f"{_JOB}/runs", _RUN, f"{_RUN}/facets", f"{_RUN}/{{mark}}"),
        *(f"/stats/{kind}" for kind in ("lineage-events", "jobs", "datasets", "sources")),
    }
)
"""Paths below `/api/v1`."""
_GRAPHQL: Final = "/api/v1-beta/graphql"
_OF_THEN: Final = frozenset({"asOf", "logSize"})
_ALIKE: Final = 0.6
"""Similarity, from 0 to 1, from which one name may be a typo of another."""


class KnownQuery(APIRoute):
    """A route that reports query parameters it does not take."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Check the parameters' names first, then handle the request as usual."""
        handle = super().get_route_handler()
        known = frozenset(_query_of(self.dependant))
        is_marquezs = self.path_format.removeprefix(API) in _OF_MARQUEZ or self.path_format == _GRAPHQL

        async def checked(request: Request) -> Response:
            sent = request.query_params.keys()
            refuse_unknown([name for name in sent if _is_of_then(name)] if is_marquezs else sent, known)
            return await handle(request)

        return checked


def refuse_unknown(sent: Iterable[str], known: frozenset[str]) -> None:
    """Check that all parameters are known.

    Raises:
        InvalidInputError: one is not; the message names the first, and the most similar known parameter.
    """
    for name in sent:
        if name not in known:
            raise InvalidInputError(f"query param {name} is unknown: {_instead(name, known)}")


def _instead(name: str, known: frozenset[str]) -> str:
    plain = {_plain(each): each for each in known}
    if near := get_close_matches(_plain(name), plain, 1, _ALIKE):
        return f"did you mean {plain[near[0]]}?"
    return f"expected {', '.join(sorted(known))}" if known else "expected none"


def _is_of_then(name: str) -> bool:
    """Whether it resembles `asOf` or `logSize`, with other case or separators."""
    return name not in _OF_THEN and any(_plain(name) == _plain(each) for each in _OF_THEN)


def _plain(name: str) -> str:
    """Without case and separators.

    >>> _plain("As_of")
    'asof'
    """
    return re.sub(r"[\W_]", "", name).lower()


def _query_of(dependant: Dependant) -> Iterator[str]:
    yield from (parameter.alias for parameter in dependant.query_params)
    for each in dependant.dependencies:
        yield from _query_of(each)
