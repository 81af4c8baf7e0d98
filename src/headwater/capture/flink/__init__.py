"""Apache Flink, from outside its jobs.

A job is named as the OpenLineage listener names it: in the namespace that the cluster's configuration gives as
`openlineage.job.namespace`, else `flink-jobs`, by Flink's own name of the job (`pipeline.name`). Its run has the id
that the listener gives it, so whoever tells of a job (the listener, the submitter, the watcher) tells of one run.

Two of ours tell of one run without talking to each other, so they keep to this:

- `headwater flink run` tells START at the job's `start-time`, with inputs, outputs, columns, the job's facets and the
  run's `processing_engine`, and nothing else of that run.
- `headwater watch flink` tells START at `start-time`, without datasets, and all that follows, of every job.
- Who sets another namespace than `flink-jobs` sets it for both.

An event that says nothing of datasets or of a facet takes none away, and of two STARTs both count.

run_ids    the run id of a job, out of its id and its start
"""
