"""How the records of topics become columns: a struct for each topic, or what is wrong with a record.

A record of Confluent's serializers is a zero byte, four bytes with the schema's id, and the payload. The id is looked
at record by record, so that records of several versions may follow each other in any order.

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
        payload: the struct; null, or with nulls alone, where the record cannot be read.
        reason: given the struct, what is wrong with a record; null where nothing is.
        hidden: a field of the struct that is no field of the payload.
    """

    payload: Column
    reason: Callable[[Column], Column]
    hidden: str


def json_reading(ddl: str) -> Reading:
    """JSON by a declared schema; a record that does not fit it in one field is not read at all."""
    text = F.col("value").cast("string")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}

    def reason(payload: Column) -> Column:
        wrong = F.col("value").isNotNull() & (payload.isNull() | payload[_CORRUPT].isNotNull())
        return F.when(wrong, F.lit("not JSON of the declared schema"))

    return Reading(F.from_json(text, f"{ddl}, `{_CORRUPT}` STRING", options), reason, _CORRUPT)


def avro_reading(writers: Mapping[int, str], reader: str, *, strange: Collection[int], otherwise: Column) -> Reading:
    """Avro, each record by the schema that its id names, all as one struct.

    Args:
        writers: schemas by id.
        reader: the schema of the struct, with `READ_MARK`.
        strange: ids that are known to belong to no schema of the topic.
        otherwise: what to do at an id that is not known at all; a text is a reason.
    """
    schema_id = schema_id_of_record()
    body = F.expr(f"substring(value, {_HEADER_BYTES + 1})")
    framed = (F.length("value") >= _HEADER_BYTES) & (F.substring("value", 1, 1) == F.lit(b"\x00"))
    payload = F.lit(None)
    for number, writer in writers.items():
        read = from_avro(body, writer, {"avroSchema": reader, "mode": "PERMISSIVE"})
        payload = F.when(framed & (schema_id == number), read).otherwise(payload)

    def reason(read: Column) -> Column:
        unreadable = F.concat(F.lit("not Avro of its schema id "), schema_id.cast("string"))
        return (
            F.when(F.col("value").isNull(), F.lit(None).cast("string"))
            .when(~framed, F.lit("not Avro with a schema id"))
            .when(schema_id.isin(*writers), F.when(read[READ_MARK].isNull(), unreadable))
            .when(schema_id.isin(*strange), no_such_version())
            .otherwise(otherwise.cast("string"))
        )

    return Reading(payload, reason, READ_MARK)


def schema_id_of_record() -> Column:
    """The number in the four bytes after the first; unsigned, as bytes that are no id may be anything."""
    return F.conv(F.hex(F.substring("value", 2, 4)), 16, 10).cast("bigint")


def no_such_version() -> Column:
    """The reason where a record's schema id is none of the topic's."""
    told = F.lit("no version of the topic's subject that is read here has its schema id ")
    return F.concat(told, schema_id_of_record().cast("string"))
