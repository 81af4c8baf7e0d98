"""Capture: reports what engines do that have no complete lineage reporting of their own.

spark         any PySpark program, from within
connect       Kafka Connect: the lifecycle of every connector, from the worker's own topics
flink         Apache Flink: the lifecycle of every job on a cluster
trino         Trino: the tables that its catalogs stand for
dashboards    dashboards declared in a file, and what their queries read
duckdb_query  a query run by DuckDB in this process, reported as a run
registry      a schema registry: every version of every subject, and its changes
schemas       a client of schema registries: subjects and their schemas
languages     schema languages: Avro, JSON Schema, Protobuf
fields        fields of records, independent of the schema language
topics        a topic as a dataset; column_facet: a statement's columns as a facet
traces        stack traces without data values; unread: why a file cannot be read, as text
outlet        the functions that take a watcher's events
state_file    a watcher's state on disk
clock         the time in milliseconds, as Connect and Flink write it
"""
