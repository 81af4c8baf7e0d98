"""Capture: tells what engines do that do not tell it themselves.

connect    Kafka Connect: the life of every connector, from the worker's own topics
flink      Apache Flink: the life of every job on a cluster
registry   a schema registry: every version of every subject, and what changed
schemas    subjects and their schemas, as registries give them
languages  what those are written in: Avro, JSON Schema, Protobuf
fields     fields of records, whatever language their schema is in
topics     a topic as a dataset
traces     stack traces without the values in them
outlet     where events go
kept       what a watcher knows, on disk
clock      what it is now, as Connect and Flink write times
"""
