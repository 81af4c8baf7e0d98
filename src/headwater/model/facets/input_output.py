"""Facets of one read of a dataset, or one write to it."""

from typing import Any, ClassVar

from pydantic import Field

from headwater.model.facets.counts import Count
from headwater.model.facets.view import Items, Number, Part, View


class _Statistics(View):
    row_count: Count | None = None
    size: Count | None = None
    """Bytes."""
    file_count: Count | None = None


class InputStatisticsFacet(_Statistics):
    """The amount of data that a run read from the dataset.

    Source: OpenLineage InputStatisticsInputDatasetFacet 1-0-0
    """

    key: ClassVar = "inputStatistics"


class OutputStatisticsFacet(_Statistics):
    """The amount of data that a run wrote to the dataset.

    Source: OpenLineage OutputStatisticsOutputDatasetFacet 1-0-2
    """

    key: ClassVar = "outputStatistics"


class ScanMetrics(Part):
    """The files and manifests that a scan of an Iceberg table read and skipped."""

    total_planning_duration: Number | None = None
    """Milliseconds."""
    result_data_files: Number | None = None
    result_delete_files: Number | None = None
    total_data_manifests: Number | None = None
    total_delete_manifests: Number | None = None
    scanned_data_manifests: Number | None = None
    skipped_data_manifests: Number | None = None
    total_file_size_in_bytes: Number | None = None
    total_delete_file_size_in_bytes: Number | None = None
    skipped_data_files: Number | None = None
    skipped_delete_files: Number | None = None
    scanned_delete_manifests: Number | None = None
    skipped_delete_manifests: Number | None = None
    indexed_delete_files: Number | None = None
    equality_delete_files: Number | None = None
    positional_delete_files: Number | None = None


class IcebergScanReportFacet(View):
    """Iceberg's report of a scan.

    Spark's agent writes the snapshot id as a rounded float; the exact one is in the dataset's `version` facet.

    Source: OpenLineage IcebergScanReportInputDatasetFacet 1-0-0
    """

    key: ClassVar = "icebergScanReport"
    snapshot_id: Number | None = None
    filter_description: str | None = None
    schema_id: Number | None = None
    projected_field_names: Items[str] | None = None
    scan_metrics: ScanMetrics | None = None
    metadata: dict[str, Any] | None = None


class CommitMetrics(Part):
    """The files, rows and bytes that a commit to an Iceberg table added and removed."""

    total_duration: Number | None = None
    """Milliseconds."""
    attempts: Number | None = None
    added_data_files: Number | None = None
    removed_data_files: Number | None = None
    total_data_files: Number | None = None
    added_delete_files: Number | None = None
    added_equality_delete_files: Number | None = None
    added_positional_delete_files: Number | None = None
    added_dvs: Number | None = Field(None, alias="addedDVs")
    removed_delete_files: Number | None = None
    removed_equality_delete_files: Number | None = None
    removed_positional_delete_files: Number | None = None
    removed_dvs: Number | None = Field(None, alias="removedDVs")
    total_delete_files: Number | None = None
    added_records: Number | None = None
    removed_records: Number | None = None
    total_records: Number | None = None
    added_files_size_in_bytes: Number | None = None
    removed_files_size_in_bytes: Number | None = None
    total_files_size_in_bytes: Number | None = None
    added_positional_deletes: Number | None = None
    removed_positional_deletes: Number | None = None
    total_positional_deletes: Number | None = None
    added_equality_deletes: Number | None = None
    removed_equality_deletes: Number | None = None
    total_equality_deletes: Number | None = None


class IcebergCommitReportFacet(View):
    """Iceberg's report of a commit; for `snapshot_id` see the scan report.

    Source: OpenLineage IcebergCommitReportOutputDatasetFacet 1-0-0
    """

    key: ClassVar = "icebergCommitReport"
    snapshot_id: Number | None = None
    sequence_number: Number | None = None
    operation: str | None = None
    commit_metrics: CommitMetrics | None = None
    metadata: dict[str, Any] | None = None
