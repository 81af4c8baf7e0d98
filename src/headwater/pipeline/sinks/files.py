"""Files: a directory of part files as Spark writes them, or one file."""

from typing import Any

from pyspark.sql import DataFrame

from headwater.errors import InvalidPipelineError
from headwater.pipeline.spec import FileOutput


def write_files(frame: DataFrame, writes: FileOutput) -> None:
    """Write the frame to the path.

    Raises:
        InvalidPipelineError: a single file is there already, and `mode` is `error`.
    """
    if writes.single_file:
        _write_single_file(frame, writes)
    else:
        _save(frame, writes, writes.path, writes.mode)


def _save(frame: DataFrame, writes: FileOutput, path: str, mode: str) -> None:
    writer = frame.write.format(writes.format).mode(mode).options(**writes.options)
    if writes.partition_by:
        writer = writer.partitionBy(*writes.partition_by)
    writer.save(path)


def _write_single_file(frame: DataFrame, writes: FileOutput) -> None:
    """Write a directory beside the target, since Spark writes only directories, then move its part file.

    A reader sees the old file or the complete new one; if the file system cannot replace atomically (S3A), for a moment
    none.
    """
    target = _path(frame, writes.path)
    files = target.getFileSystem(frame.sparkSession._jsparkSession.sessionState().newHadoopConf())
    if writes.mode == "error" and files.exists(target):
        raise InvalidPipelineError(f"{writes.path}: already exists, and the mode is `error`")
    parts = _path(frame, f"{target.getParent()}/.{target.getName()}.parts")
    try:
        _save(frame.coalesce(1), writes, str(parts), "overwrite")
        part = next(found for found in _listed(files, parts) if found.getName().startswith("part-"))
        if not files.rename(part, target):
            files.delete(target, False)
            files.rename(part, target)
        # Hadoop's checksum file would make reading fail once another program replaces the file.
        files.delete(_path(frame, f"{target.getParent()}/.{target.getName()}.crc"), False)
    finally:
        files.delete(parts, True)


def _path(frame: DataFrame, location: str) -> Any:  # noqa: ANN401  (a Java object)
    return frame.sparkSession._jvm.org.apache.hadoop.fs.Path(location)


def _listed(files: Any, directory: Any) -> list[Any]:  # noqa: ANN401  (Java objects)
    return [status.getPath() for status in files.listStatus(directory)]
