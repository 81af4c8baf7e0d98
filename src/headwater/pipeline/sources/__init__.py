"""Inputs as data frames: `read` picks the module of an input's kind.

read        an input of any kind but Kafka, which `pipeline.kafka.read` reads
files       files, local or behind a URL
iceberg     Iceberg tables, current or as of a time
database    tables and queries of a database, over JDBC
http        records of an API, fetched once
generate    generated rows
"""
