"""What a Spark driver can be asked over py4j, and the facets made from it.

jvm          calls into the JVM
relations    the sources that the relations of a plan read
executions   query executions: rows, bytes and files that they read and wrote; `tally` has the sums
metrics      operator metrics; sampling: how often Spark read the input of a sort
snapshots    snapshots of Iceberg tables: what a write added
iceberg      Iceberg tables as datasets
schema       a frame's columns as a facet
columns      column lineage as a facet
progress     where a streaming query stands
failure      exceptions of Spark, classified
"""
