"""Kafka Connect, watched from outside: no plugin, no change of a connector.

records     the records of Connect's own topics, as types
connectors  the state of a connector and its run, and the updates to report
lifecycle   one run per connector from start to stop, however many tasks: a pure fold over records
classes     the datasets that a connector of a class reads and writes
datasets    the external dataset on the other side of a topic, found by kind:
            file_datasets: files and objects; table_datasets: tables; document_datasets: indexes and collections
debezium    what Debezium's sources capture, and which columns they mask
chain       the topic and the fields that come out of the transforms
java_regex  regular expressions as Java reads them
topics      the topics that a connector's properties exclude
commits     the commit records of Iceberg's sink
avro        the encoding of these records
evidence    the topic schemas that our transform observed
events      run updates as OpenLineage events
rest        the version of Connect, from its REST API
group       whether any worker is alive
login       whether the broker refuses the login
progress    how far each partition has been read, and what of it is still to be applied
state       the watcher's state on disk
watcher     the main loop: topics, group and clock
"""
