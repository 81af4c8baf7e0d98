"""Datasets for events: names and facets as an observer collects them, in the official client's classes.

A `Described` is filled while a run goes on, and becomes an input, an output or both in the run's events.
"""

from dataclasses import dataclass, field

from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    DatasetFacet,
    InputDatasetFacet,
    OutputDatasetFacet,
    dataset_type_dataset,
    datasource_dataset,
    storage_dataset,
)

from headwater.model.addresses import as_uri
from headwater.model.names import DatasetId


@dataclass(slots=True)
class Described:
    """A dataset with its facets, and those of its use by this run."""

    id: DatasetId
    facets: dict[str, DatasetFacet] = field(default_factory=dict)
    read: dict[str, InputDatasetFacet] = field(default_factory=dict)
    written: dict[str, OutputDatasetFacet] = field(default_factory=dict)

    def as_input(self) -> InputDataset:
        """The dataset as an event's input."""
        return InputDataset(self.id.namespace, self.id.name, facets=self.facets, inputFacets=self.read)

    def as_output(self) -> OutputDataset:
        """The dataset as an event's output."""
        return OutputDataset(self.id.namespace, self.id.name, facets=self.facets, outputFacets=self.written)


def source_facet(id: DatasetId) -> datasource_dataset.DatasourceDatasetFacet:
    """The facet with a dataset's address without credentials: its namespace, or `file:///` for local files."""
    uri = "file:///" if id.namespace == "file" else as_uri(id.namespace)
    return datasource_dataset.DatasourceDatasetFacet(name=id.namespace, uri=uri)


def files(name: DatasetId, file_format: str | None) -> Described:
    """A file, or a folder of files, of a format."""
    layer = name.namespace.partition(":")[0]
    return Described(
        name,
        {
            "dataSource": source_facet(name),
            "storage": storage_dataset.StorageDatasetFacet(storageLayer=layer, fileFormat=file_format),
            "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="FILE"),
        },
    )


def table_of(name: DatasetId) -> Described:
    """A table of a database."""
    kind = dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="TABLE")
    return Described(name, {"dataSource": source_facet(name), "datasetType": kind})
