"""Facets of a dataset: its structure and its names."""

from typing import ClassVar, Literal

from pydantic import Field

from headwater.model.facets.lenient import Exact
from headwater.model.facets.view import Integer, Items, Part, View
from headwater.model.names import DatasetId


class SchemaField(Part):
    """A column, or a nested field; older producers omit the type."""

    name: Exact
    type: str | None = None
    description: str | None = None
    ordinal_position: Integer | None = Field(None, alias="ordinal_position")
    fields: "Items[SchemaField] | None" = None


class SchemaFacet(View):
    """The columns of a dataset.

    Source: OpenLineage SchemaDatasetFacet 1-2-0
    """

    key: ClassVar = "schema"
    fields: Items[SchemaField] | None = None


class Symlink(Part):
    """An alias of the dataset; the standard requires a type, not every producer gives one."""

    namespace: Exact
    name: Exact
    type: str | None = None
    """`TABLE` or `LOCATION`."""

    @property
    def dataset(self) -> DatasetId:
        """The alias as a name."""
        return DatasetId(self.namespace, self.name)


class SymlinksFacet(View):
    """Other names of the dataset.

    Source: OpenLineage SymlinksDatasetFacet 1-0-1
    """

    key: ClassVar = "symlinks"
    identifiers: Items[Symlink] | None = None


class DatasetTypeFacet(View):
    """The kind of a dataset, for example a materialized VIEW.

    Source: OpenLineage DatasetTypeDatasetFacet 1-0-0
    """

    key: ClassVar = "datasetType"
    dataset_type: str
    sub_type: str | None = None


class DataSourceFacet(View):
    """The system that the dataset is in.

    Source: OpenLineage DatasourceDatasetFacet 1-0-1
    """

    key: ClassVar = "dataSource"
    name: str | None = None
    uri: str | None = None


class VersionFacet(View):
    """Which version was read or written, for example an Iceberg snapshot id.

    Source: OpenLineage DatasetVersionDatasetFacet 1-0-1
    """

    key: ClassVar = "version"
    dataset_version: str


class FormerName(Part):
    """The former name of a renamed dataset."""

    namespace: Exact
    name: Exact


LifecycleState = Literal["ALTER", "CREATE", "DROP", "OVERWRITE", "RENAME", "TRUNCATE"]


class LifecycleStateChangeFacet(View):
    """A change to the dataset itself, such as its creation or deletion.

    Source: OpenLineage LifecycleStateChangeDatasetFacet 1-0-1
    """

    key: ClassVar = "lifecycleStateChange"
    lifecycle_state_change: LifecycleState
    previous_identifier: FormerName | None = None
