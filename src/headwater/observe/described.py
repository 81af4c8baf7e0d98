"""Datasets on their way into an event: name and facets as an observer gathers them, with the official client's classes.

`Described` is filled while a run goes on, and then stands in its events as an input, an output or both.
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

from headwater.model.names import DatasetId


@dataclass(slots=True)
class Described:
    """A dataset, what is known of it, and what this run did with it."""

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
    """Where a dataset lives; the namespace is its address without credentials, `file` alone is no URI."""
    uri = "file:///" if id.namespace == "file" else id.namespace
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
