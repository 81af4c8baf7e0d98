"""Sources: those put over the API, those of datasets' facets, and the default for all other datasets."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

from headwater.errors import NotFoundError
from headwater.model.addresses import as_uri
from headwater.model.credentials import without_credentials
from headwater.model.edits import DESCRIBED, described
from headwater.model.facts import Edit
from headwater.model.merging import Seen
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import marquez as shapes
from headwater.service.tallies.tally import DEFAULT_SOURCE, Source

_DEFAULT_TYPE: Final = "POSTGRESQL"
"""The type of the default source, as in Marquez."""
_SCHEME: Final = re.compile(r"(?:jdbc:)?([a-z][a-z0-9+.-]*):", re.ASCII | re.IGNORECASE)
_TYPES: Final[Mapping[str, str]] = {"POSTGRES": "POSTGRESQL"}
"""Schemes of which Marquez has another name for the type."""


def sources(knowledge: Knowledge, limit: int, offset: int) -> shapes.Sources:
    """A page of the sources, by name."""
    known = all_sources(knowledge)
    page = islice(sorted(known), offset, offset + limit)
    return shapes.Sources(sources=[known[name] for name in page], totalCount=len(known))


def source(knowledge: Knowledge, name: str) -> shapes.Source:
    """One source.

    Raises:
        NotFoundError: nobody put it, and no dataset is in it.
    """
    edit = knowledge.graph.edits.get(("source", name), DESCRIBED)
    found = _put_source(name, edit) if edit is not None else all_sources(knowledge).get(name)
    if found is None:
        raise NotFoundError(f"Source '{name}' not found.")
    return found


def all_sources(knowledge: Knowledge) -> Mapping[str, shapes.Source]:
    """The sources by name; one that was put is as it was put."""
    edits = knowledge.graph.edits
    known = {reported.name: _reported_source(reported, seen) for reported, seen in knowledge.dataset_tallies.sources()}
    for kind, name in edits.targets("source"):
        if (edit := edits.get((kind, name), DESCRIBED)) is not None:
            known[name] = _put_source(name, edit)
    return known


def _put_source(name: str, edit: Edit) -> shapes.Source:
    description = described(edit.value)
    return shapes.Source(
        type=description["type"],
        name=name,
        createdAt=iso(edit.seen.first_us),
        updatedAt=iso(edit.seen.last_us),
        connectionUrl=as_uri(description["connectionUrl"]),
        description=description["description"],
    )


def _reported_source(source: Source, seen: Seen) -> shapes.Source:
    address = as_uri(without_credentials(source.uri))
    found = _SCHEME.match(address)
    scheme = "" if found is None else found[1].upper()
    return shapes.Source(
        type=_TYPES.get(scheme, scheme) or _type_without_scheme(source.name),
        name=source.name,
        createdAt=iso(seen.first_us),
        updatedAt=iso(seen.last_us),
        connectionUrl=address,
        description=None,
    )


def _type_without_scheme(name: str) -> str:
    return _DEFAULT_TYPE if name == DEFAULT_SOURCE else "UNKNOWN"
