"""The contribution of one job or dataset to the totals."""

from typing import Final, NamedTuple

from headwater.model.merging import Seen
from headwater.model.times import AFTER_ALL_US

DEFAULT_SOURCE: Final = "default"
"""The source of datasets without a `dataSource` facet, as in Marquez."""


class JobTally(NamedTuple):
    """The contribution of one job."""

    seen: Seen
    is_shown: bool
    """False if it is deleted."""
    edges: int
    tags: tuple[str, ...] = ()
    """The tags that producers reported."""
    last_new_us: int = AFTER_ALL_US
    """An upper bound on the time of the last change to any field but `seen`.

    Microseconds since 1970; `AFTER_ALL_US` if unknown.
    """


class Source(NamedTuple):
    """The source of a dataset, by its `dataSource` facet; the URI may be empty."""

    name: str
    uri: str


class DatasetTally(NamedTuple):
    """The contribution of one dataset, under all its names."""

    seen: Seen
    is_shown: bool
    namespaces: tuple[str, ...]
    columns: int
    column_edges: int
    source: Source | None
    """None if it is deleted."""
    tags: tuple[str, ...] = ()
    """The tags that producers reported for the dataset or its columns."""
    last_new_us: int = AFTER_ALL_US
    """As in `JobTally`."""
