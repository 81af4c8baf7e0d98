"""Kafka Connect, watched from outside: no plugin, no change of a connector.

records     what Connect writes into its own topics, as types
connectors  what is known of a connector and its run, and what is told
life        one connector, one run from start to stop, however many tasks: a pure fold over records
classes     which datasets a connector of a class reads and writes
places      what a dataset beyond a topic is told as, and who finds those of a kind:
            file_places: files and objects; table_places: tables; document_places: indexes and collections
chain       which topic and which fields come out of the transforms
topics      which topics the settings leave to a connector
commits     what Iceberg's sink tells of its commits
avro        the encoding it tells that in
evidence    what a transform in the chain saw of topics
events      what is told, as OpenLineage events
rest        what the REST API tells that those topics do not
group       whether any worker is there
kept        what the watcher knows, on disk
watcher     the topics, the group and the clock
"""
