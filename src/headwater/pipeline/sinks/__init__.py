"""Data frames to outputs: `write` picks the module of an output's kind.

write       a batch, or a stream's micro-batch, to an output of any kind
files       a directory of part files, or one file; in buckets, too
iceberg     Iceberg tables
kafka       Kafka topics
database    database tables, over JDBC
http        an API, in batches of rows
stdout      standard output
"""
