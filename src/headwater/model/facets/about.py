"""People's statements about a run, a job or a dataset: documentation, owners, tags."""

from collections.abc import Iterator
from typing import ClassVar

from headwater.model.facets.lenient import Exact
from headwater.model.facets.view import Items, Part, View


class DocumentationFacet(View):
    """The documentation of a job or a dataset.

    Source: OpenLineage DocumentationJobFacet 1-1-0, DocumentationDatasetFacet 1-1-0
    """

    key: ClassVar = "documentation"
    description: str
    content_type: str | None = None
    """A media type, for example `text/markdown`."""


class Owner(Part):
    """A person or a team, and their role."""

    name: str
    type: str | None = None


class OwnershipFacet(View):
    """The owners of a job or a dataset.

    Source: OpenLineage OwnershipJobFacet 1-0-1, OwnershipDatasetFacet 1-0-1
    """

    key: ClassVar = "ownership"
    owners: Items[Owner] | None = None


class Tag(Part):
    """A key and its value, and who set them."""

    key: Exact
    value: str | None = None
    source: str | None = None

    @property
    def word(self) -> str:
        """The tag as one word: its key, with the value where that says more than that the tag is there.

        >>> [Tag(key=key, value=value).word for key, value in (("pii", "true"), ("tier", "gold"), ("raw", None))]
        ['pii', 'tier:gold', 'raw']
        """
        is_flag = self.value is None or self.value.casefold() in ("", "true") or self.value == self.key
        return self.key if is_flag else f"{self.key}:{self.value}"


class TagsFacet(View):
    """Tags of a run or a job.

    Source: OpenLineage TagsRunFacet 1-0-0, TagsJobFacet 1-0-0
    """

    key: ClassVar = "tags"
    tags: Items[Tag] | None = None

    @property
    def words(self) -> Iterator[tuple[None, str]]:
        """Each tag as one word, on no column."""
        return ((None, tag.word) for tag in self.tags or ())


class DatasetTag(Tag):
    """A tag of a dataset, or of one of its columns."""

    field: Exact | None = None


class DatasetTagsFacet(View):
    """Tags of a dataset and its columns.

    Source: OpenLineage TagsDatasetFacet 1-0-0
    """

    key: ClassVar = "tags"
    tags: Items[DatasetTag] | None = None

    @property
    def words(self) -> Iterator[tuple[str | None, str]]:
        """Each tag as one word, with its column, if any."""
        return ((tag.field or None, tag.word) for tag in self.tags or ())
