"""Files that Spark reads, by name."""

import pytest

from headwater.capture.spark.reading import files_named
from headwater.model.names import DatasetId


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([f"s3a://lake/events/day={day}" for day in range(11)], [("s3://lake", "events")]),
        ([f"hdfs://name:8020/events/{day}" for day in range(11)], [("hdfs://name:8020", "/events")]),
        (
            [f"abfss://raw@shop.dfs.core.windows.net/events/{day}" for day in range(11)],
            [("abfss://raw@shop.dfs.core.windows.net", "events")],
        ),
        ([f"file:/events/{day}" for day in range(11)], [("file", "/events")]),
        (
            [f"s3a://{bucket}/events/{day}" for bucket in ("east", "west") for day in range(6)],
            [("s3://east", "events"), ("s3://west", "events")],
        ),
        ([f"file:/{folder}" for folder in "abcdefghijkl"], [("file", "/")]),
        ([f"s3a://lake/{folder}" for folder in "abcdefghijkl"], [("s3://lake", "/")]),
    ],
)
def test_many_paths_are_reported_as_their_common_folder_in_each_namespace(
    paths: list[str], names: list[tuple[str, str]]
) -> None:
    assert files_named(paths) == [DatasetId(*name) for name in names]


def test_nothing_in_a_path_is_escaped() -> None:
    assert files_named(["file:/events/hour=10%3A00/a#b", "s3a://lake/hour=10%3A00"]) == [
        DatasetId("file", "/events/hour=10%3A00/a#b"),
        DatasetId("s3://lake", "hour=10%3A00"),
    ]


def test_few_paths_are_each_reported() -> None:
    assert files_named(["s3a://lake/a", "file:///b/"]) == [DatasetId("s3://lake", "a"), DatasetId("file", "/b")]
