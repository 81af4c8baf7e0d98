"""The checksum of a bundle's graph, which other versions of Headwater must compute in the same way."""

from hashlib import sha256
from typing import Final

import msgspec

from headwater.audit.graph import graph_of
from headwater.store.tables import TABLES

_NAMES: Final = [
    "Alias",
    "CatalogEntry",
    "ChainLink",
    "ColumnEvidence",
    "Content",
    "ControlFlow",
    "Declaration",
    "DeclaredShape",
    "DeclaredTimes",
    "Deletion",
    "Edit",
    "Ending",
    "EngineCatalog",
    "JobFacet",
    "JobFlow",
    "Observation",
    "ObservedFacet",
    "Quarantined",
    "Renaming",
    "RunFacet",
    "RunOfJob",
    "RunTelling",
    "RunTimes",
    "Telling",
    "UseEvidence",
]
"""The names of kinds of facts in the format of bundles, independent of the names of the classes."""
_ROW: Final = ("load-1", ("etl", "load"), ("lake", "orders"))


def test_the_names_of_facts_in_the_row_sum_do_not_change() -> None:
    sums = {sha256(name.encode() + msgspec.msgpack.encode(_ROW)).hexdigest(): name for name in _NAMES}

    names = {sums.get(graph_of([(table.kind, [_ROW])])["rowSum"], table.kind.__name__) for table in TABLES}

    assert names == set(_NAMES)
