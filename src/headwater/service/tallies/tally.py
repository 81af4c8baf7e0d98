"""What one job or dataset adds to what all of them come to."""

from typing import Final, NamedTuple

from headwater.model.merging import Seen
from headwater.model.times import AFTER_ALL_US

DEFAULT_SOURCE: Final = "default"
"""The source of datasets of which nobody said where they are kept, as in Marquez."""


class JobTally(NamedTuple):
    """What one job adds."""

    seen: Seen
    is_shown: bool
    """False for one that is deleted."""
    edges: int
    tags: tuple[str, ...] = ()
    """The tags that producers told."""
    last_new_us: int = AFTER_ALL_US
    """Until when anybody told what this hangs on, but for when the job was heard of last; or some time after that.

    Microseconds since 1970; `AFTER_ALL_US` where nobody can tell.
    """


class Source(NamedTuple):
    """Where a dataset is kept, by its `dataSource` facet; the address may be empty."""

    name: str
    uri: str


class DatasetTally(NamedTuple):
    """What one dataset adds, under all its names."""

    seen: Seen
    is_shown: bool
    namespaces: tuple[str, ...]
    columns: int
    column_edges: int
    source: Source | None
    """None for one that is deleted."""
    tags: tuple[str, ...] = ()
    """The tags that producers told of the dataset or of its columns."""
    last_new_us: int = AFTER_ALL_US
    """Until when anybody told what this hangs on, but for when the dataset was heard of last; or some time after that.

    Microseconds since 1970; `AFTER_ALL_US` where nobody can tell.
    """
