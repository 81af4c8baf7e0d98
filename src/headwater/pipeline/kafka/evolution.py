"""Versions of an Avro schema: their compatibility, and one schema to read them all.

Compatibility is decided by the Avro library that Spark includes.

Source: https://avro.apache.org/docs/1.12.0/specification/#schema-resolution
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pyspark.sql import SparkSession

from headwater.errors import IncompatibleSchemaError, InvalidInputError
from headwater.observe.spark.jvm import java_class
from headwater.pipeline.kafka.registry import Version

READ_MARK: Final = "__headwater_read"
"""A field that only the reader schema has, with default true: it is null if Spark could not read a record."""

Java = Any


def check_evolution(spark: SparkSession, versions: Sequence[Version], rule: str) -> None:
    """Check that each version is compatible with the previous one, or with all previous ones for a transitive rule.

    Raises:
        IncompatibleSchemaError: names the subject, both versions, the rule, and the violation.
    """
    avro = _Avro(spark)
    parsed = [avro.schema(version) for version in versions]
    for index in range(1, len(versions)):
        earlier = range(index) if rule.endswith("_TRANSITIVE") else (index - 1,)
        for before in earlier:
            for reader, writer in _pairs(rule, parsed[index], parsed[before]):
                if broken := avro.incompatibility(reader, writer):
                    new, old = versions[index], versions[before]
                    raise IncompatibleSchemaError(
                        f"{new.subject}: version {new.number} cannot follow version {old.number} under {rule}: {broken}"
                    )


def reader_schema(versions: Sequence[Version]) -> str:
    """One Avro schema, as JSON, that can read the records of every version.

    It is the newest version's schema, plus fields of older versions. Fields that only older versions have, and fields
    without a default that not every version has, are nullable. `READ_MARK` is added.

    Raises:
        InvalidInputError: the subject's schema is not a record.
    """
    records = [_record(version) for version in versions]
    everywhere = set.intersection(*({field["name"] for field in record["fields"]} for record in records))
    fields: dict[str, dict[str, Any]] = {}
    for record in reversed(records):
        for field in record["fields"]:
            known = field["name"] in everywhere or "default" in field
            fields.setdefault(field["name"], field if known else nullable(field))
    mark = {"name": READ_MARK, "type": "boolean", "default": True}
    return json.dumps({**records[-1], "fields": [*fields.values(), mark]})


def _record(version: Version) -> dict[str, Any]:
    parsed = json.loads(version.schema)
    if not (isinstance(parsed, dict) and parsed.get("type") == "record"):
        raise InvalidInputError(f"{version.subject} version {version.number}: expected an Avro record")
    return parsed


def nullable(field: dict[str, Any]) -> dict[str, Any]:
    """The field of a record, which may also be null, and is by default."""
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    return {**field, "type": ["null", *(kind for kind in kinds if kind != "null")], "default": None}


def _pairs(rule: str, new: Java, old: Java) -> Iterator[tuple[Java, Java]]:
    """The pairs of reader and writer that the rule requires to be compatible."""
    if rule.startswith(("BACKWARD", "FULL")):
        yield new, old
    if rule.startswith(("FORWARD", "FULL")):
        yield old, new


class _Avro:
    """Avro's Java library."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = spark._jvm
        self._compatibility = java_class(spark, "org.apache.avro.SchemaCompatibility")

    def schema(self, version: Version) -> Java:
        return self._jvm.org.apache.avro.Schema.Parser().parse(version.schema)

    def incompatibility(self, reader: Java, writer: Java) -> str | None:
        """The first incompatibility, in Avro's words; None if there is none."""
        found = self._compatibility.checkReaderWriterCompatibility(reader, writer).getResult().getIncompatibilities()
        if not found:
            return None
        return f"{found[0].getType().toString()} at {found[0].getLocation()}"
