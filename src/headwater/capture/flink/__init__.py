"""Apache Flink, from outside its jobs.

A job is named as the OpenLineage listener names it: in the namespace that the cluster's configuration gives as
`openlineage.job.namespace`, else `flink-jobs`, by Flink's own name of the job (`pipeline.name`). Its run has the id
that the listener gives it, so that the listener, the submitter and the watcher report on the same run.

Two programs of ours report on one run without communicating, so they follow these rules:

- `headwater flink run` emits START at the job's `start-time`, with inputs, outputs, columns, the job's facets and the
  run's `processing_engine`, and nothing else of that run.
- `headwater watch flink` emits START at `start-time`, without datasets, and all later events, for every job.
- A namespace set on the command line must be set for both.

An event without datasets or without a facet removes none, and two STARTs are merged.

submit       runs a file of SQL or a program in Flink's own Python, and reports the jobs that it submits
session      the submitter's questions to the cluster
start_event  the START event of a submitted job
tables       a Flink table as a dataset
sql_text     SQL without secrets
inside       code that runs in Flink's own Python
run_ids      the run id of a job, from its id and its start
rest         a client of a cluster's REST API
jobs         the REST API's answers about jobs, as types
lifecycle    one run per job, however often it is restarted: a pure fold over polls of the cluster
events       run updates as OpenLineage events
state        the watcher's state on disk
watcher      the main loop: polls the cluster
"""
