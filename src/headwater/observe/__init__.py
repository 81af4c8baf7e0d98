"""Code shared by the observers of a run, whether of a pipeline, a Spark program or any other Python program.

lifecycle    the order of a run's events, and their times
guard        contains failures of lineage code, so that the pipeline goes on
failure      why a run failed, without any value of the data
run_reporter   emits the events of one run
counters     how many rows and bytes a run has read and written
run_facets   run facets that any run of ours may have
described    a dataset with its facets
dataset_arguments   datasets as a person passes them to `headwater.run`
local_url    JDBC URLs of databases that are local files
queries      the tables that a query reads in its database, from its text
signals      a terminal event before SIGTERM ends a Python program
threads      observer threads, which may fail to start
spark        what a Spark driver can be asked over py4j
"""
