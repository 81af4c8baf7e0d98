"""`signature`: signs every record with the node's key, in a column of its own."""

from functools import cache
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headwater.pipeline.spec import SignatureProcessor
from headwater.pipeline.tables import quoted_column
from headwater.signing.keyfile import load_or_create
from headwater.signing.keys import NodeKey
from headwater.signing.records import BODY, sign_record

_TYPE = "struct<algorithm: string, key_id: string, signed: string, signature: string>"


def record_signed(frame: DataFrame, does: SignatureProcessor, home: Path) -> DataFrame:
    """The frame with a struct column that signs each row: all other columns, or the one with the metadata.

    Spark's Python workers read the key from this machine's disk; it is never in a plan or sent over a network.

    Raises:
        SetupError: the key cannot be read or created.
    """
    load_or_create(home)  # here, before the workers: once, and with a clear error
    others = [column for column in frame.columns if column.lower() != does.column.lower()]
    signed = BODY if does.target == "body" else does.metadata_key
    columns = others if does.target == "body" else [does.metadata_key]
    folder = str(home)
    sign = F.udf(lambda record: tuple(sign_record(record.encode(), signed, _key(folder))), _TYPE)
    record = F.to_json(F.struct(*map(quoted_column, columns)))
    return frame.select(*map(quoted_column, others)).withColumn(does.column, sign(record))


@cache
def _key(home: str) -> NodeKey:
    """The key, read once by each of Spark's Python workers."""
    return load_or_create(Path(home))
