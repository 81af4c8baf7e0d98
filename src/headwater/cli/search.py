"""Finds datasets by name, and suggests similar names, over a service's answers."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from headwater.cli.printed import harmless
from headwater.cli.service_client import OPTIONS, ServiceClient, in_path
from headwater.errors import InvalidNameError, NotFoundError
from headwater.model.names import DatasetId

_MOST: Final = 100
_ALIKE: Final = 0.75
"""The similarity of two names, from 0 to 1, from which one is suggested for the other."""
_MOST_NEAR: Final = 3
_MOST_NAMED: Final = 5
_SEARCHED: Final = 3
_SHORTEST: Final = 3


def called(client: ServiceClient, text: str) -> DatasetId | None:
    """The dataset with this name, alias, end of either, `NAMESPACE:NAME` of either, or node id; None if there is none.

    Raises:
        InvalidNameError: there are several.
    """
    answer = _search(client, text, "DATASET", match="NAME")
    if answer["totalCount"] > 1:
        some = ", ".join(sorted(harmless(hit["nodeId"]) for hit in answer["results"])[:_MOST_NAMED])
        more = answer["totalCount"] - _MOST_NAMED
        raise InvalidNameError(
            f"{text!r} is ambiguous: {some}{f' and {more:,} more' if more > 0 else ''}; name one of these"
        )
    return next((DatasetId(hit["namespace"], hit["name"]) for hit in answer["results"]), None)


def label(data: Mapping[str, Any]) -> str:
    """A dataset's name for people, as on the page: its most qualified table name, else its own name."""
    return max((str(each["name"]) for each in (data, *data.get("symlinks", ()))), key=_parts)


def known_namespace(client: ServiceClient, namespace: str | None) -> str | None:
    """Check that the namespace exists, since an unknown one would look free of problems; returns it unchanged.

    Raises:
        NotFoundError: no event names it.
    """
    if namespace is None:
        return None
    try:
        client.get(f"/namespaces/{in_path(namespace)}")
    except NotFoundError as fault:
        raise NotFoundError(f"no namespace {namespace!r}{_known(client, namespace)}") from fault
    return namespace


def _known(client: ServiceClient, namespace: str) -> str:
    """The namespaces with similar names, or else some of all namespaces."""
    names = [each["name"] for each in client.get("/namespaces", {"limit": _MOST})["namespaces"]]
    if near := get_close_matches(namespace, names, _MOST_NEAR, _ALIKE):
        return f"; did you mean {' or '.join(map(repr, near))}?"
    some = ", ".join(map(repr, sorted(names)[:_MOST_NAMED]))
    return f"; known are {some}{', …' if len(names) > _MOST_NAMED else ''}" if names else ""


def hint(client: ServiceClient, text: str) -> str:
    """Advice on a name without a dataset: it is a job's, it is similar to another, or how to name a dataset."""
    if any(text in (hit["name"], hit["nodeId"]) for hit in _search(client, text, "JOB", match="NAME")["results"]):
        return "it is a job; name a dataset that it reads or writes"
    if near := _near(client, text):
        return f"did you mean {' or '.join(map(harmless, near))}?"
    without = " and ".join(OPTIONS[asked] for asked in client.then.asked)
    return f"to include later events, leave out {without}" if without else "name it as DATASET or DATASET:COLUMN"


def _near(client: ServiceClient, text: str) -> list[str]:
    spelled: dict[str, list[str]] = {}
    for part in _parts_to_search(text):
        for shown in map(label, _search(client, part, "DATASET")["results"]):
            for spelling in {shown, re.split("[./]", shown)[-1]}:
                spelled.setdefault(spelling.lower(), []).append(shown)
    names = [name.lower() for name in (text, text.rpartition(":")[0]) if name]
    found = [near for name in names for near in get_close_matches(name, spelled, cutoff=_ALIKE)]
    return list(dict.fromkeys(shown for near in found for shown in spelled[near]))[:_MOST_NEAR]


def _parts_to_search(text: str) -> Iterator[str]:
    """The longest words of a name, and the beginning of the longest: some part of a misspelt name is right."""
    words = [word for word in re.split(r"[\W_]+", text) if len(word) >= _SHORTEST]
    longest = sorted(dict.fromkeys(words), key=len, reverse=True)[:_SEARCHED]
    yield from longest
    yield from (word[:_SHORTEST] for word in longest[:1])


def _search(client: ServiceClient, text: str, kind: str, match: str = "PART") -> Mapping[str, Any]:
    found: dict[str, Any] = client.get("/search", {"q": text, "filter": kind, "match": match, "limit": _MOST})
    return found


def _parts(name: str) -> int:
    """The number of parts of a table's name; a name with slashes is a location."""
    return 0 if "/" in name else len(name.split("."))
