"""Records of the control topic of Iceberg's sink, as recorded from iceberg-kafka-connect 1.12.0."""

import base64
import io
import json
from typing import Any

import fastavro
import pytest

from headwater.capture.connect.avro import decoded
from headwater.capture.connect.commits import control_topic, parse_commit
from headwater.capture.connect.records import Committed, Delivered

START_COMMIT = base64.b64decode(
    "wgECQXsidHlwZSI6InJlY29yZCIsIm5hbWUiOiJFdmVudCIsIm5hbWVzcGFjZSI6Im9yZy5hcGFjaGUuaWNlYmVyZy5jb25uZWN0"
    "LmV2ZW50cyIsImZpZWxkcyI6W3sibmFtZSI6ImlkIiwidHlwZSI6eyJ0eXBlIjoiZml4ZWQiLCJuYW1lIjoidXVpZF9maXhlZCIs"
    "Im5hbWVzcGFjZSI6IiIsInNpemUiOjE2LCJsb2dpY2FsVHlwZSI6InV1aWQifSwiZmllbGQtaWQiOjEwNTAwfSx7Im5hbWUiOiJ0"
    "eXBlIiwidHlwZSI6ImludCIsImZpZWxkLWlkIjoxMDUwMX0seyJuYW1lIjoidGltZXN0YW1wIiwidHlwZSI6eyJ0eXBlIjoibG9u"
    "ZyIsImxvZ2ljYWxUeXBlIjoidGltZXN0YW1wLW1pY3JvcyIsImFkanVzdC10by11dGMiOnRydWV9LCJmaWVsZC1pZCI6MTA1MDJ9"
    "LHsibmFtZSI6Imdyb3VwX2lkIiwidHlwZSI6InN0cmluZyIsImZpZWxkLWlkIjoxMDUwM30seyJuYW1lIjoicGF5bG9hZCIsInR5"
    "cGUiOnsidHlwZSI6InJlY29yZCIsIm5hbWUiOiJTdGFydENvbW1pdCIsImZpZWxkcyI6W3sibmFtZSI6ImNvbW1pdF9pZCIsInR5"
    "cGUiOiJ1dWlkX2ZpeGVkIiwiZmllbGQtaWQiOjEwMjAwfV19LCJmaWVsZC1pZCI6MTA1MDR9XX0Zym9dhXZIiZWZ4VZv5kgJAM6w"
    "mqPStLAGGGNvbm5lY3QtbGFrZaDrCZw/SEMEjU14//kHVT4="
)
DATA_COMPLETE = base64.b64decode(
    "wgEEKXsidHlwZSI6InJlY29yZCIsIm5hbWUiOiJFdmVudCIsIm5hbWVzcGFjZSI6Im9yZy5hcGFjaGUuaWNlYmVyZy5jb25uZWN0"
    "LmV2ZW50cyIsImZpZWxkcyI6W3sibmFtZSI6ImlkIiwidHlwZSI6eyJ0eXBlIjoiZml4ZWQiLCJuYW1lIjoidXVpZF9maXhlZCIs"
    "Im5hbWVzcGFjZSI6IiIsInNpemUiOjE2LCJsb2dpY2FsVHlwZSI6InV1aWQifSwiZmllbGQtaWQiOjEwNTAwfSx7Im5hbWUiOiJ0"
    "eXBlIiwidHlwZSI6ImludCIsImZpZWxkLWlkIjoxMDUwMX0seyJuYW1lIjoidGltZXN0YW1wIiwidHlwZSI6eyJ0eXBlIjoibG9u"
    "ZyIsImxvZ2ljYWxUeXBlIjoidGltZXN0YW1wLW1pY3JvcyIsImFkanVzdC10by11dGMiOnRydWV9LCJmaWVsZC1pZCI6MTA1MDJ9"
    "LHsibmFtZSI6Imdyb3VwX2lkIiwidHlwZSI6InN0cmluZyIsImZpZWxkLWlkIjoxMDUwM30seyJuYW1lIjoicGF5bG9hZCIsInR5"
    "cGUiOnsidHlwZSI6InJlY29yZCIsIm5hbWUiOiJEYXRhQ29tcGxldGUiLCJmaWVsZHMiOlt7Im5hbWUiOiJjb21taXRfaWQiLCJ0"
    "eXBlIjoidXVpZF9maXhlZCIsImZpZWxkLWlkIjoxMDEwMH0seyJuYW1lIjoiYXNzaWdubWVudHMiLCJ0eXBlIjpbIm51bGwiLHsi"
    "dHlwZSI6ImFycmF5IiwiaXRlbXMiOnsidHlwZSI6InJlY29yZCIsIm5hbWUiOiJUb3BpY1BhcnRpdGlvbk9mZnNldCIsImZpZWxk"
    "cyI6W3sibmFtZSI6InRvcGljIiwidHlwZSI6InN0cmluZyIsImZpZWxkLWlkIjoxMDcwMH0seyJuYW1lIjoicGFydGl0aW9uIiwi"
    "dHlwZSI6ImludCIsImZpZWxkLWlkIjoxMDcwMX0seyJuYW1lIjoib2Zmc2V0IiwidHlwZSI6WyJudWxsIiwibG9uZyJdLCJkZWZh"
    "dWx0IjpudWxsLCJmaWVsZC1pZCI6MTA3MDJ9LHsibmFtZSI6InRpbWVzdGFtcCIsInR5cGUiOlsibnVsbCIseyJ0eXBlIjoibG9u"
    "ZyIsImxvZ2ljYWxUeXBlIjoidGltZXN0YW1wLW1pY3JvcyIsImFkanVzdC10by11dGMiOnRydWV9XSwiZGVmYXVsdCI6bnVsbCwi"
    "ZmllbGQtaWQiOjEwNzAzfV19LCJlbGVtZW50LWlkIjoxMDEwMn1dLCJkZWZhdWx0IjpudWxsLCJmaWVsZC1pZCI6MTAxMDF9XX0s"
    "ImZpZWxkLWlkIjoxMDUwNH1dfdFaIEzSUEYApCdwCBT2PMUE8N+npNK0sAYYY29ubmVjdC1sYWtloOsJnD9IQwSNTXj/+QdVPgIC"
    "DG9yZGVycwACugUCwJeto9K0sAYA"
)
COMMIT_TO_TABLE = base64.b64decode(
    "wgEEpXsidHlwZSI6InJlY29yZCIsIm5hbWUiOiJFdmVudCIsIm5hbWVzcGFjZSI6Im9yZy5hcGFjaGUuaWNlYmVyZy5jb25uZWN0"
    "LmV2ZW50cyIsImZpZWxkcyI6W3sibmFtZSI6ImlkIiwidHlwZSI6eyJ0eXBlIjoiZml4ZWQiLCJuYW1lIjoidXVpZF9maXhlZCIs"
    "Im5hbWVzcGFjZSI6IiIsInNpemUiOjE2LCJsb2dpY2FsVHlwZSI6InV1aWQifSwiZmllbGQtaWQiOjEwNTAwfSx7Im5hbWUiOiJ0"
    "eXBlIiwidHlwZSI6ImludCIsImZpZWxkLWlkIjoxMDUwMX0seyJuYW1lIjoidGltZXN0YW1wIiwidHlwZSI6eyJ0eXBlIjoibG9u"
    "ZyIsImxvZ2ljYWxUeXBlIjoidGltZXN0YW1wLW1pY3JvcyIsImFkanVzdC10by11dGMiOnRydWV9LCJmaWVsZC1pZCI6MTA1MDJ9"
    "LHsibmFtZSI6Imdyb3VwX2lkIiwidHlwZSI6InN0cmluZyIsImZpZWxkLWlkIjoxMDUwM30seyJuYW1lIjoicGF5bG9hZCIsInR5"
    "cGUiOnsidHlwZSI6InJlY29yZCIsIm5hbWUiOiJDb21taXRUb1RhYmxlIiwiZmllbGRzIjpbeyJuYW1lIjoiY29tbWl0X2lkIiwi"
    "dHlwZSI6InV1aWRfZml4ZWQiLCJmaWVsZC1pZCI6MTA0MDB9LHsibmFtZSI6InRhYmxlX3JlZmVyZW5jZSIsInR5cGUiOnsidHlw"
    "ZSI6InJlY29yZCIsIm5hbWUiOiJUYWJsZVJlZmVyZW5jZSIsImZpZWxkcyI6W3sibmFtZSI6ImNhdGFsb2ciLCJ0eXBlIjoic3Ry"
    "aW5nIiwiZmllbGQtaWQiOjEwNjAwfSx7Im5hbWUiOiJuYW1lc3BhY2UiLCJ0eXBlIjp7InR5cGUiOiJhcnJheSIsIml0ZW1zIjoi"
    "c3RyaW5nIiwiZWxlbWVudC1pZCI6MTA2MDJ9LCJmaWVsZC1pZCI6MTA2MDF9LHsibmFtZSI6Im5hbWUiLCJ0eXBlIjoic3RyaW5n"
    "IiwiZmllbGQtaWQiOjEwNjAzfSx7Im5hbWUiOiJ0YWJsZV91dWlkIiwidHlwZSI6WyJudWxsIiwidXVpZF9maXhlZCJdLCJkZWZh"
    "dWx0IjpudWxsLCJmaWVsZC1pZCI6MTA2MDR9XX0sImZpZWxkLWlkIjoxMDQwMX0seyJuYW1lIjoic25hcHNob3RfaWQiLCJ0eXBl"
    "IjpbIm51bGwiLCJsb25nIl0sImRlZmF1bHQiOm51bGwsImZpZWxkLWlkIjoxMDQwMn0seyJuYW1lIjoidmFsaWRfdGhyb3VnaF90"
    "cyIsInR5cGUiOlsibnVsbCIseyJ0eXBlIjoibG9uZyIsImxvZ2ljYWxUeXBlIjoidGltZXN0YW1wLW1pY3JvcyIsImFkanVzdC10"
    "by11dGMiOnRydWV9XSwiZGVmYXVsdCI6bnVsbCwiZmllbGQtaWQiOjEwNDAzfV19LCJmaWVsZC1pZCI6MTA1MDR9XX3RW+xRpWdN"
    "H4MilQZer0GdBp7nl6XStLAGGGNvbm5lY3QtbGFrZaDrCZw/SEMEjU14//kHVT4IbGFrZQIGcmF3AAxvcmRlcnMC7quzdOi6TGK1"
    "xKwBAMAEcALuj6Cmzfbi69MBAsCXraPStLAG"
)


def test_a_tasks_record_has_the_offsets_up_to_which_it_has_written() -> None:
    assert parse_commit(DATA_COMPLETE, 5) == Delivered("lake", 5, {"orders/0": 349})


def test_a_commit_has_its_table_and_its_snapshot() -> None:
    assert parse_commit(COMMIT_TO_TABLE, 7) == Committed(
        "lake", 7, "a0eb099c-3f48-4304-8d4d-78fff907553e", "raw.orders", "7632411535387919351"
    )


@pytest.mark.parametrize("record", [START_COMMIT, COMMIT_TO_TABLE[:-20], COMMIT_TO_TABLE[4:], b"", None])
def test_other_records_and_unreadable_ones_are_ignored(record: bytes | None) -> None:
    assert parse_commit(record, 0) is None


def test_only_icebergs_sinks_have_a_control_topic() -> None:
    sink = {"connector.class": "org.apache.iceberg.connect.IcebergSinkConnector"}

    assert control_topic(sink) == "control-iceberg"
    assert control_topic({**sink, "iceberg.control.topic": "mine"}) == "mine"
    assert control_topic({"connector.class": "FileStreamSink", "iceberg.control.topic": "mine"}) is None


RECORD = {
    "type": "record",
    "name": "Everything",
    "fields": [
        {"name": "flag", "type": "boolean"},
        {"name": "small", "type": "int"},
        {"name": "large", "type": "long"},
        {"name": "half", "type": "float"},
        {"name": "whole", "type": "double"},
        {"name": "raw", "type": "bytes"},
        {"name": "text", "type": ["null", "string"]},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]}},
        {"name": "pair", "type": {"type": "fixed", "name": "Pair", "size": 2}},
        {"name": "pairs", "type": {"type": "array", "items": "Pair"}},
        {"name": "counts", "type": {"type": "map", "values": "long"}},
        {"name": "nothing", "type": "null"},
    ],
}
VALUE: dict[str, Any] = {
    "flag": True,
    "small": -1,
    "large": 2**63 - 1,
    "half": 0.5,
    "whole": -2.25,
    "raw": b"\0\xff",
    "text": "naïve",
    "colour": "BLUE",
    "pair": b"ab",
    "pairs": [b"cd", b"ef"],
    "counts": {"a": -(2**63), "b": 300},
    "nothing": None,
}


def test_every_type_is_decoded_as_another_implementation_encodes_it() -> None:
    written = io.BytesIO()
    fastavro.schemaless_writer(written, json.loads(json.dumps(RECORD)), VALUE)

    assert decoded(written.getvalue(), RECORD) == VALUE


@pytest.mark.parametrize("data", [b"", b"\x06ab", b"\xff" * 20, b"\x05"])
def test_truncated_or_malformed_data_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"the data is truncated|64 bits"):
        decoded(data, "string")
