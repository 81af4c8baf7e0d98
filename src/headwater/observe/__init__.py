"""What observers of a run share, whether it is a pipeline's, any Spark program's or any Python program's.

lifecycle    the order of a run's events, and their times
guard        the one place where lineage may fail
failure      why a run failed, without a single value of the data
told_run     a run that is told event by event, whoever does the work
counters     what a run has moved
run_facets   run facets that every run of ours may have
described    a dataset and what is known of it
given        datasets as a person writes them into a program
local_url    JDBC URLs of databases that are files of this machine
queries      what a query that runs in a database reads, from its text
signals      SIGTERM, which else ends a Python program without a word
threads      those that work for us, where the machine may have none to give
spark        what a Spark driver can be asked over py4j
"""
