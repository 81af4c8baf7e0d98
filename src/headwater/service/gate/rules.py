"""The access rule of each route. An unlisted route is closed, and a test says so."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final, Literal, NamedTuple

from headwater.access.policy import Action
from headwater.service.http.paths import name_in_path

About = Literal["named", "everything", "nothing", "own"]
"""Which namespaces a request is about.

`named`: those in its path and query; if there are none, all of them
`everything`: all of them
`nothing`: none
`own`: the route checks itself: a list leaves out what the caller may not know, an event is checked by itself
"""


class Rule(NamedTuple):
    """What a route requires; None: any known caller."""

    action: Action | None
    about: About = "nothing"
    namespace: str = "namespace"
    """The path parameter that is a namespace."""


OPEN: Final = frozenset(
    {
        "GET /healthz",
        "GET /openapi.json",
        # The log's heads and proofs: they name nothing, and the more people keep them, the better.
        "GET /api/v1/log/checkpoint",
        "GET /api/v1/log/key",
        "GET /api/v1/log/proof/inclusion",
        "GET /api/v1/log/proof/consistency",
        "POST /api/v1/log/cosignatures",  # a witness that is enrolled signed it
        "GET /api/v1/keys/jwks",  # public keys, for `headwater verify --keys`
        "POST /api/v1/keys",  # what is posted is signed, or has a one-time token
    }
)
"""Routes without access control, as is the page."""

_NAMED: Final = Rule("read", "named")
_ALL: Final = Rule("read", "everything")
_NUMBERS: Final = Rule("read")
_LIST: Final = Rule("read", "own")
_EDIT: Final = Rule("edit", "named")
_TELL: Final = Rule("ingest", "named")
_ADMINISTER: Final = Rule("administer")
_DATASET: Final = "/api/v1/namespaces/{namespace}/datasets/{name}"
_JOB: Final = "/api/v1/namespaces/{namespace}/jobs/{name}"

RULES: Final[Mapping[str, Rule]] = {
    "POST /api/v1/lineage": Rule("ingest", "own"),
    "POST /api/v1/lineage/batch": Rule("ingest", "own"),
    f"PUT {_DATASET}": _TELL,
    f"PUT {_JOB}": _TELL,
    f"POST {_JOB}/runs": _TELL,
    "POST /api/v1/jobs/runs/{run_id}/{mark}": _TELL,
    # Lists
    "GET /api/v1/namespaces": _LIST,
    "GET /api/v1/jobs": _LIST,
    "GET /api/v1/datasets": _LIST,
    "GET /api/v1/search": _LIST,
    "GET /api/v1/tags": _LIST,
    "GET /api/v1/stream": _LIST,
    # About something that the request names
    "GET /api/v1/namespaces/{name}": Rule("read", "named", "name"),
    "GET /api/v1/namespaces/{namespace}/datasets": _NAMED,
    f"GET {_DATASET}": _NAMED,
    f"GET {_DATASET}/versions": _NAMED,
    f"GET {_DATASET}/versions/{{version}}": _NAMED,
    "GET /api/v1/namespaces/{namespace}/jobs": _NAMED,
    f"GET {_JOB}": _NAMED,
    f"GET {_JOB}/runs": _NAMED,
    f"GET {_JOB}/versions": _NAMED,
    f"GET {_JOB}/versions/{{version}}": _NAMED,
    "GET /api/v1/jobs/runs/{run_id}": _NAMED,
    "GET /api/v1/jobs/runs/{run_id}/facets": _NAMED,
    "GET /api/v1/jobs/runs/{run_id}/events": _NAMED,
    "GET /api/v1/events/{namespace}": _NAMED,
    **{
        f"GET /api/v1/{name}": _NAMED
        for name in (
            *("lineage", "column-lineage", "runlineage/upstream", "impact", "root-cause", "coverage", "drift"),
            *("diff", "identity", "quality", "flow", "control-flow", "containment", "path", "neighbours"),
        )
    },
    # About everything at once
    "GET /api/v1/events": _ALL,
    "GET /api/v1/events/lineage": _ALL,
    "GET /api/v1/log/entries/{index}": _ALL,
    "GET /api/v1/sources": _ALL,
    "GET /api/v1/sources/{name}": _ALL,
    "GET /api/v1/quarantine": _ALL,
    "GET /api/v1/silent-streams": _ALL,
    "GET /api/v1/nodes": _ALL,
    "GET /api/v1/nodes/{node_id}": _ALL,
    "GET /api/v1-beta/graphql": _ALL,
    "POST /api/v1-beta/graphql": _ALL,
    # Numbers, keys and hashes, which name no job or dataset
    "GET /api/v1/summary": _NUMBERS,
    **{f"GET /api/v1/stats/{name}": _NUMBERS for name in ("lineage-events", "jobs", "datasets", "sources")},
    "GET /api/v1/keys": _NUMBERS,
    "GET /api/v1/log/tile/{tile}": _NUMBERS,
    "GET /metrics": _NUMBERS,
    # What people say
    "PUT /api/v1/namespaces/{name}": Rule("edit", "named", "name"),
    "DELETE /api/v1/namespaces/{name}": Rule("edit", "named", "name"),
    f"DELETE {_DATASET}": _EDIT,
    f"DELETE {_JOB}": _EDIT,
    **{
        f"{method} {node}/tags/{{tag}}": _EDIT
        for method in ("POST", "DELETE")
        for node in (_DATASET, f"{_DATASET}/fields/{{field}}", _JOB)
    },
    "PUT /api/v1/tags/{name}": Rule("edit"),
    "PUT /api/v1/sources/{name}": Rule("edit", "everything"),
    "POST /api/v1/identity/apart": Rule("edit", "everything"),
    "DELETE /api/v1/identity/apart": Rule("edit", "everything"),
    # Who may do what, and who did
    "GET /api/v1/edits": _ADMINISTER,
    "GET /api/v1/actions": _ADMINISTER,
    "POST /api/v1/actions/exports": _ADMINISTER,
    "GET /api/v1/access/me": Rule(None),
    "GET /api/v1/access/keys": _ADMINISTER,
    "POST /api/v1/access/keys": _ADMINISTER,
    "DELETE /api/v1/access/keys/{key_id}": _ADMINISTER,
}


_TO_THE_END: Final = frozenset({"GET /api/v1/events/{namespace}", "GET /api/v1/log/tile/{tile}"})
"""Routes whose last parameter takes the rest of the path, slashes included."""


class Matched(NamedTuple):
    """A route and its path parameters."""

    route: str
    rule: Rule | None
    """None: the route is open to everybody."""
    parameters: Mapping[str, str]


def matched(method: str, path: str) -> Matched | None:
    """The route of a request, by its undecoded path; None if it has no rule."""
    request = f"{method} {path}"
    if request in OPEN:
        return Matched(request, None, {})
    if (rule := RULES.get(request)) is not None:
        return Matched(request, rule, {})
    for route, pattern in _patterns():
        if (found := pattern.fullmatch(request)) is not None:
            return Matched(route, RULES[route], {key: name_in_path(part) for key, part in found.groupdict().items()})
    return None


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(route, _pattern(route)) for route in RULES if "{" in route]


def _pattern(route: str) -> re.Pattern[str]:
    parts: Iterable[str] = re.split(r"(\{\w+\})", route)
    letters = "." if route in _TO_THE_END else "[^/]"
    return re.compile("".join(_part(part, letters) for part in parts))


def _part(part: str, letters: str) -> str:
    return f"(?P<{part[1:-1]}>{letters}+)" if part.startswith("{") else re.escape(part)
