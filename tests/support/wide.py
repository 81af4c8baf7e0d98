"""Datasets with so many columns that the service reports once what applies to all of them."""

from tests.support.app import Body, dataset, facet, schema
from tests.support.flights import columns, ran, source

SIZES = (3, 101)
"""Numbers of columns: above a hundred, what applies to all columns is not repeated for each."""


def named(size: int) -> list[str]:
    return [f"c{number}" for number in range(size)]


def grouped(size: int) -> Body:
    """A run that copies the columns, and groups by all of them."""
    names, visits = named(size), f"visits-{size}"
    copied = {name: [source(visits, name, "DIRECT", "IDENTITY")] for name in names}
    lineage_columns = columns([source(visits, name, "INDIRECT", "GROUP_BY") for name in names], **copied)
    read = dataset(visits, schema=schema(*names))
    return ran("distinct", f"r-{size}", 1, [read], [dataset(f"visitors-{size}", columnLineage=lineage_columns)])


def joined(size: int, of: str = "visits", into: str = "sums") -> Body:
    """A run that derives each column from all that it reads."""
    how = [{"type": "DIRECT", "subtype": "AGGREGATION"}]
    all_columns = {"namespace": "lake", "name": f"{of}-{size}", "type": "DATASET", "transformations": how}
    lineage_columns = facet(fields={name: {"inputs": [all_columns]} for name in named(size)}, inputs=[])
    read = dataset(f"{of}-{size}", schema=schema(*named(size)))
    written = dataset(f"{into}-{size}", schema=schema(*named(size)), lineage=lineage_columns)
    return ran(f"join-{into}", f"j-{into}-{size}", 2, [read], [written])
