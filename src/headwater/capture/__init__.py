"""Capture: tells what engines do that do not tell it themselves.

spark         any PySpark program, from within
connect       Kafka Connect: the life of every connector, from the worker's own topics
flink         Apache Flink: the life of every job on a cluster
trino         Trino: what it means by its catalogs
dashboards    dashboards that a file declares, and what their queries read
duckdb_query  a query by DuckDB in this process, told as a run
registry      a schema registry: every version of every subject, and what changed
schemas       subjects and their schemas, as registries give them
languages     what those are written in: Avro, JSON Schema, Protobuf
fields        fields of records, whatever language their schema is in
topics        a topic as a dataset; column_facet: a statement's columns as a facet
traces        stack traces without the values in them; unread: why a file cannot be read, in words
outlet        where events go
kept          what a watcher knows, on disk
clock         what it is now, as Connect and Flink write times
"""
