"""Fields of Protobuf schemas, and changes that break readers.

The schemas are the examples of the language guides (protobuf.dev/programming-guides: proto2, proto3, editions); what is
expected of a change is from their section "Updating A Message Type".
"""

import pytest

from headwater.capture.fields import Field, TopicSchema, types
from headwater.capture.languages.protobuf import breaks
from headwater.capture.schemas import read_subject


def read(text: str, **referenced: str) -> tuple[Field, ...]:
    version = {"subject": "orders-value", "schemaType": "PROTOBUF", "version": 1, "schema": text}
    topic_schema = read_subject(version, referenced)
    return () if topic_schema is None else topic_schema.fields


def test_scalar_fields_enums_and_repeated_messages_of_proto3_are_read() -> None:
    fields = read("""
        syntax = "proto3";
        package search.v1;
        // The corpora that are searched.
        enum Corpus { CORPUS_UNSPECIFIED = 0; CORPUS_WEB = 1; }
        message SearchResponse {
          repeated Result results = 1;
          Corpus corpus = 4;
          repeated int32 samples = 5 [packed = false];
          reserved 2, 15, 9 to 11;
          reserved "foo", "bar";
        }
        message Result {
          string url = 1;
          string title = 2;
          repeated string snippets = 3;
        }
    """)

    nested = (Field("url", "string"), Field("title", "string"), Field("snippets", "array<string>"))
    assert fields == (
        Field("results", "array<struct>", nested),
        Field("corpus", "enum"),
        Field("samples", "array<int32>"),
    )


def test_all_scalar_types_keep_their_names() -> None:
    scalars = [
        "double",
        "float",
        "int32",
        "int64",
        "uint32",
        "uint64",
        "sint32",
        "sint64",
        "fixed32",
        "fixed64",
        "sfixed32",
        "sfixed64",
        "bool",
        "string",
        "bytes",
    ]
    text = "\n".join(f"  {kind} f_{kind} = {number};" for number, kind in enumerate(scalars, start=1))

    assert [field.type for field in read(f'syntax = "proto3";\nmessage All {{\n{text}\n}}')] == scalars


def test_names_are_resolved_from_the_innermost_scope_outwards() -> None:
    fields = read("""
        syntax = "proto3";
        package foo.bar;
        message Outer {
          message MiddleAA { message Inner { int64 ival = 1; bool booly = 2; } }
          message MiddleBB { message Inner { int32 ival = 1; bool booly = 2; } Inner inner = 1; }
          MiddleAA.Inner first = 1;
          MiddleBB second = 2;
          .foo.bar.Inner third = 3;
          bar.Inner fourth = 4;
        }
        message Inner { string name = 1; }
    """)

    assert types(fields) == {
        "first": "struct",
        "first.ival": "int64",
        "first.booly": "bool",
        "second": "struct",
        "second.inner": "struct",
        "second.inner.ival": "int32",
        "second.inner.booly": "bool",
        "third": "struct",
        "third.name": "string",
        "fourth": "struct",
        "fourth.name": "string",
    }


def test_members_of_a_oneof_are_fields_and_maps_have_the_fields_of_their_values() -> None:
    fields = read("""
        syntax = "proto3";
        message SampleMessage {
          oneof test_oneof {
            string name = 4;
            SubMessage sub_message = 9;
          }
          map<string, Project> projects = 3;
          map<int32, Kind> kinds = 5;
          optional bytes note = 6 [deprecated = true, (my_option).text = "{ a; b }"];
          message SubMessage { bool ok = 1; }
          enum Kind { KIND_UNSPECIFIED = 0; }
        }
        message Project { string owner = 1; }
    """)

    assert fields == (
        Field("name", "string"),
        Field("sub_message", "struct", (Field("ok", "bool"),)),
        Field("projects", "map<string,struct>", (Field("owner", "string"),)),
        Field("kinds", "map<int32,enum>"),
        Field("note", "bytes"),
    )


def test_proto2_has_required_fields_defaults_groups_and_extensions() -> None:
    fields = read("""
        syntax = "proto2";
        message SearchResponse {
          required string query = 1;
          optional int32 results_per_page = 3 [default = 10];
          repeated group Result = 4 {
            optional string url = 1;
          }
          extensions 100 to 199;
        }
        extend SearchResponse { optional int32 bar = 126; }
    """)

    assert fields == (
        Field("query", "string"),
        Field("results_per_page", "int32"),
        Field("result", "array<struct>", (Field("url", "string"),)),
    )


def test_a_recursive_message_is_listed_once() -> None:
    fields = read("""
        syntax = "proto3";
        message Tree { string label = 1; repeated Tree children = 2; Tree parent = 3; }
    """)

    assert fields == (Field("label", "string"), Field("children", "array<struct>"), Field("parent", "struct"))


def test_types_of_other_subjects_are_read_and_well_known_types_are_named() -> None:
    money = 'syntax = "proto3"; package shop; message Money { string currency = 1; int64 units = 2; }'
    order = """
        syntax = "proto3";
        package shop.orders;
        import "shop/money.proto";
        import "google/protobuf/timestamp.proto";
        message Order {
          shop.Money price = 1;
          .google.protobuf.Timestamp at = 2;
          .google.protobuf.Int64Value count = 3;
        }
    """

    assert read(order, **{"shop/money.proto": money}) == (
        Field("price", "struct", (Field("currency", "string"), Field("units", "int64"))),
        Field("at", "timestamp"),
        Field("count", "google.protobuf.Int64Value"),
    )
    assert read(order)[0] == Field("price", "shop.Money")


@pytest.mark.parametrize("text", ["message { this is broken", "", 'syntax = "proto3";', "CgtvcmRlcnMucHJvdG8="])
def test_text_without_a_protobuf_message_has_no_fields(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert read(text) == ()
    assert capfd.readouterr() == ("", "")


def test_a_subjects_version_is_read() -> None:
    version = {"schemaType": "PROTOBUF", "version": 7, "schema": 'syntax = "proto3"; message M { bool b = 1; }'}

    assert read_subject(version) == TopicSchema((Field("b", "bool"),), 7)


@pytest.mark.parametrize(
    ("before", "after", "is_breaking"),
    [
        # "int32, uint32, int64, uint64, and bool are all compatible"
        ("int32", "uint32", False),
        ("int32", "int64", False),
        ("uint64", "bool", False),
        ("int64", "int32", False),
        # "sint32 and sint64 are compatible with each other but are not compatible with the other integer types"
        ("sint32", "sint64", False),
        ("int32", "sint32", True),
        # "string and bytes are compatible as long as the bytes are valid UTF-8"
        ("string", "bytes", False),
        ("string", "int32", True),
        # "fixed32 is compatible with sfixed32, and fixed64 with sfixed64"
        ("fixed32", "sfixed32", False),
        ("fixed64", "sfixed64", False),
        ("fixed32", "fixed64", True),
        ("fixed32", "int32", True),
        # "enum is compatible with int32, uint32, int64, and uint64 in terms of wire format"
        ("enum", "int32", False),
        ("uint64", "enum", False),
        ("enum", "sint32", True),
        # numbers of other widths and kinds are not mentioned: their wire types differ
        ("float", "double", True),
        ("int32", "double", True),
        ("int32", "float", True),
        # "For string, bytes, and message fields, singular is compatible with repeated"; of numbers it is "not safe"
        ("string", "array<string>", False),
        ("array<struct>", "struct", False),
        ("int32", "array<int32>", True),
        ("array<int32>", "array<int64>", False),
        ("array<int32>", "array<string>", True),
        ("string", "struct", True),
        ("map<string,int32>", "map<string,string>", True),
    ],
)
def test_changes_break_as_the_language_guide_documents(before: str, after: str, is_breaking: bool) -> None:
    assert breaks(before, after) is is_breaking
