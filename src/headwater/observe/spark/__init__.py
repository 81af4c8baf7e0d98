"""What a Spark driver can be asked over py4j, and how that is told.

jvm          calls into the JVM
relations    what the relations of a plan read
executions   query executions: rows, bytes and files that they read and wrote; `tally` has the sums
metrics      what operators count; sampling: how often Spark went over what lies below a sort
snapshots    what was written to Iceberg tables
iceberg      Iceberg tables as datasets
schema       a frame's columns as a facet
columns      column lineage as a facet
progress     where a streaming query stands
failure      exceptions of Spark, classified
"""
