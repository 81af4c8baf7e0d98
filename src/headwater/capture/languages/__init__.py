"""The languages that schemas in a registry are written in: their fields, and what breaks who reads one.

Each module has `fields(text, referenced)`, which raises ValueError for a text that it cannot read, and
`breaks(before, after)` for the types that a field had and has.

avro         Apache Avro
json_schema  JSON Schema
protobuf     Protocol Buffers
"""
