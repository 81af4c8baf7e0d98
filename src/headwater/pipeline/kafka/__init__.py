"""Kafka topics as inputs and outputs, and the parsing of their records.

connection   addresses and credentials for Spark, Kafka's own client and the registry
broker       queries to a broker: which topics exist, and their end offsets
registry     versions of a subject, from a schema registry with Confluent's API
evolution    versions of an Avro schema: their compatibility, and one schema to read them all
json_schema  the same for JSON Schema
payload      how a topic's records become columns
read         an input as frames: rows, and unreadable records
signals      errors raised by records inside Spark: a new schema, an unreadable record
topics       the known topics of a run
"""
