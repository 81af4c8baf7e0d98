"""How the records of topics become columns: a struct for each topic, or the reason why a record is unreadable.

A record of Confluent's serializers is a zero byte, four bytes with the schema's id, and the payload. The id is read for
each record, so that records of several versions may be mixed.

Source: https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from headwater.pipeline.kafka.evolution import READ_MARK

_HEADER_BYTES: Final = 5
_CORRUPT: Final = "__headwater_corrupt"


@dataclass(frozen=True, slots=True)
class Reading:
    """How one topic is read.

    Attributes:
        payload: the struct; null, or with only null fields, if the record is unreadable.
        reason: from the struct, why a record is unreadable; null if it is readable.
        hidden: a field of the struct that is not part of the payload.
    """

    payload: Column
    reason: Callable[[Column], Column]
    hidden: str


@dataclass(frozen=True, slots=True)
class Ids:
    """How schema ids in records are treated.

    Attributes:
        known: ids of the versions that are read.
        strange: ids known to belong to no version of the subject.
        otherwise: the column for any other id: a reason, or an error that stops the stream.
    """

    known: Collection[int]
    strange: Collection[int]
    otherwise: Column

    def reason(self, of_known: Column) -> Column:
        """Why a record with an id is unreadable; `of_known` if its id is known."""
        schema_id = schema_id_of_record()
        return (
            F.when(schema_id.isin(*self.known), of_known)
            .when(schema_id.isin(*self.strange), no_such_version())
            .otherwise(self.otherwise.cast("string"))
        )


def json_reading(columns: str, ids: Ids | None = None) -> Reading:
    """Reads JSON by columns with types; a record with one wrong field is unreadable as a whole.

    With `ids`, a record may have a schema id before its JSON, as written by Confluent's serializer.
    """
    value = F.col("value")
    text = (value if ids is None else F.when(_framed(), _body()).otherwise(value)).cast("string")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}

    def reason(payload: Column) -> Column:
        wrong = value.isNotNull() & (payload.isNull() | payload[_CORRUPT].isNotNull())
        unlike = F.when(wrong, F.lit("not JSON that matches the declared schema"))
        return unlike if ids is None else F.when(_framed(), ids.reason(unlike)).otherwise(unlike)

    return Reading(F.from_json(text, f"{columns}, `{_CORRUPT}` STRING", options), reason, _CORRUPT)


def avro_reading(writers: Mapping[int, str], reader: str, ids: Ids) -> Reading:
    """Reads Avro, each record by the schema of its id, all as one struct.

    Args:
        writers: schemas by id.
        reader: the schema of the struct, with `READ_MARK`.
        ids: how ids are treated.
    """
    schema_id = schema_id_of_record()
    payload = F.lit(None)
    for number, writer in writers.items():
        read = from_avro(_body(), writer, {"avroSchema": reader, "mode": "PERMISSIVE"})
        payload = F.when(_framed() & (schema_id == number), read).otherwise(payload)

    def reason(payload: Column) -> Column:
        unlike = F.concat(F.lit("not valid Avro for its schema id "), schema_id.cast("string"))
        return (
            F.when(F.col("value").isNull(), F.lit(None).cast("string"))
            .when(~_framed(), F.lit("not Avro with a schema id"))
            .otherwise(ids.reason(F.when(payload[READ_MARK].isNull(), unlike)))
        )

    return Reading(payload, reason, READ_MARK)


def schema_id_of_record() -> Column:
    """The schema id in the four bytes after the first; unsigned, since the bytes may be anything."""
    return F.conv(F.hex(F.substring("value", 2, 4)), 16, 10).cast("bigint")


def no_such_version() -> Column:
    """The reason for a record whose schema id is not one of the topic's."""
    prefix = F.lit("the versions of the topic's subject read here do not include its schema id ")
    return F.concat(prefix, schema_id_of_record().cast("string"))


def _framed() -> Column:
    return (F.length("value") >= _HEADER_BYTES) & (F.substring("value", 1, 1) == F.lit(b"\x00"))


def _body() -> Column:
    return F.expr(f"substring(value, {_HEADER_BYTES + 1})")
