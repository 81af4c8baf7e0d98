"""Topics of Kafka as inputs and outputs, and what their records look like.

connection   addresses and credentials, as Spark, Kafka's own client and the registry take them
broker       what a broker tells: which topics there are, where they end
registry     versions of a subject, from a schema registry that speaks Confluent's API
evolution    versions of an Avro schema: whether each can follow the one before, and one schema to read them all
json_schema  the same for JSON Schema
payload      how a topic's records become columns
read         an input as frames: rows, and what cannot be read
signals      what a record makes Spark say: a schema that came while the stream ran, a record that cannot be read
topics       what is known of the topics of a run
"""
