"""Schema languages of a registry: the fields of a schema, and which type changes break readers.

Each module has `fields(text, referenced)`, which raises ValueError for a text that it cannot parse, and
`breaks(before, after)` for a field's old and new type.

avro         Apache Avro
json_schema  JSON Schema
protobuf     Protocol Buffers
"""
