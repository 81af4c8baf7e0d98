"""Names that an event would join into one dataset: its sender must cover the namespaces of all of them.

A dataset is shown under one of its names. So joining names of two namespaces shows readers of the one what is reported
about the other, or hides from readers what they could see.
"""

from collections.abc import Iterator
from typing import NamedTuple

from headwater.graph.catalogs import place_of
from headwater.graph.identity import Identities
from headwater.model.facts import Alias, CatalogEntry, EngineCatalog, Renaming
from headwater.model.spelling import normal_namespace
from headwater.store.entries import Entry


class Join(NamedTuple):
    """Evidence that names of several namespaces are one dataset."""

    facet: str
    named: frozenset[str]
    """The namespaces that its sender named."""
    others: frozenset[str]
    """The namespaces of names already joined with these."""


def joins(entry: Entry, identities: Identities) -> Iterator[Join]:
    """What an event would join across namespaces; empty if all of it is known already, or has no effect."""
    for each in entry.facts:
        fact = each.alias if isinstance(each, Renaming) else each
        if isinstance(fact, Alias | CatalogEntry | EngineCatalog):
            namespaces = frozenset(name.namespace for name in identities.would_join(fact))
            if len({*map(normal_namespace, namespaces)}) > 1:
                facet, named = _named_in(fact)
                yield Join(facet, named & namespaces, namespaces - named)


def _named_in(fact: Alias | CatalogEntry | EngineCatalog) -> tuple[str, frozenset[str]]:
    match fact:
        case Alias():
            facet = "symlinks" if fact.evidence == "symlinks" else "lifecycleStateChange.previousIdentifier"
            return facet, frozenset({fact.name.namespace, fact.alias.namespace})
        case CatalogEntry():
            return "catalog", frozenset({fact.dataset.namespace, place_of(fact.catalog)})
        case EngineCatalog():
            return "headwater_engine_catalog", frozenset({fact.engine, fact.names.namespace, place_of(fact.catalog)})
