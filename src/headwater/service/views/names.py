"""Names and facets, as answers write them."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

import orjson

from headwater.graph.mending import Mended
from headwater.model.facets.dataset import SymlinksFacet
from headwater.model.names import DatasetId, JobId
from headwater.model.producer import API_PRODUCERS
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import marquez as shapes

_PUT: Final = b'{"_producer":"%b' % API_PRODUCERS.encode()
"""How facets of ours begin: they are stored with their members in order."""


def name_of(node: DatasetId | JobId) -> shapes.Name:
    """A job or dataset by its two parts."""
    return shapes.Name(namespace=node.namespace, name=node.name)


def names_of(nodes: Iterable[DatasetId]) -> list[shapes.Name]:
    """Datasets by their two parts, in order."""
    return [name_of(node) for node in sorted(nodes)]


def other_names(knowledge: Knowledge, name: DatasetId) -> list[shapes.Name]:
    """The other names of a dataset: those of its newest symlinks facet, in its order, then the rest."""
    digest = knowledge.graph.digest_of(name, SymlinksFacet.key)
    symlinks = knowledge.facets.read(SymlinksFacet, digest)
    symlink_order = dict.fromkeys(symlink.dataset for symlink in (symlinks and symlinks.identifiers) or ())
    positions = {each: position for position, each in enumerate(symlink_order)}
    others = [member for member in knowledge.graph.members(name) if member != name and member.is_complete]
    return [name_of(member) for member in sorted(others, key=lambda member: positions.get(member, len(positions)))]


def mended_shape(mended: Mended) -> shapes.Mended:
    """The corrections of an event, each with its evidence."""
    return shapes.Mended(rule=mended.rule, what=mended.what, evidence=mended.evidence)


def facets_of(bodies: Mapping[str, bytes]) -> shapes.Facets:
    """Facets by name as they were stored, byte for byte.

    Without deleted ones, and those that only repeat what was put over the API: Marquez has no facets for that, but
    members of its own.
    """
    shown = (item for item in sorted(bodies.items()) if not item[1].startswith(_PUT) and not _is_deleted(item[1]))
    return {name: orjson.Fragment(body) for name, body in shown}


def _is_deleted(body: bytes) -> bool:
    return b'"_deleted":true' in body and json.loads(body).get("_deleted") is True  # the second check is rarely needed


def stored_facets(knowledge: Knowledge, digests: Iterable[Mapping[str, bytes]]) -> list[shapes.Facets]:
    """For each mapping of digests by facet name: the facets."""
    requested = list(digests)
    bodies = knowledge.store.bodies([*{digest for each in requested for digest in each.values()}])
    return [facets_of({name: bodies[digest] for name, digest in each.items()}) for each in requested]
