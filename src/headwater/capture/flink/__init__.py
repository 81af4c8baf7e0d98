"""Apache Flink, from outside its jobs.

A job is named as the OpenLineage listener names it: in the namespace that the cluster's configuration gives as
`openlineage.job.namespace`, else `flink-jobs`, by Flink's own name of the job (`pipeline.name`). Its run has the id
that the listener gives it, so whoever tells of a job (the listener, the submitter, the watcher) tells of one run.

Two of ours tell of one run without talking to each other, so they keep to this:

- `headwater flink run` tells START at the job's `start-time`, with inputs, outputs, columns, the job's facets and the
  run's `processing_engine`, and nothing else of that run.
- `headwater watch flink` tells START at `start-time`, without datasets, and all that follows, of every job.
- Who sets the namespace on the command line sets it for both.

An event that says nothing of datasets or of a facet takes none away, and of two STARTs both count.

submit     runs a file of SQL or a program in Flink's own Python, and tells what it submits
session    what submitting asks of the cluster
told       a submitted job as an event
tables     a table of Flink's as a dataset
sql_text   SQL that may be shown
inside     what runs in Flink's own Python
run_ids    the run id of a job, out of its id and its start
rest       a cluster, asked over its REST API
jobs       what that says of jobs, as types
life       one job, one run, whatever is restarted: a pure fold over looks at the cluster
events     what is told of a job's life, as OpenLineage events
kept       what the watcher knows, on disk
watcher    the cluster and the clock
"""
