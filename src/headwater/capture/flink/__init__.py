"""Apache Flink, from outside its jobs.

A job is named as the OpenLineage listener names it: in the namespace that the cluster's configuration gives as
`openlineage.job.namespace`, else `flink-jobs`, by Flink's own name of the job (`pipeline.name`). Its run has the id
that the listener gives it, so whoever tells of a job (the listener, the submitter, the watcher) tells of one run.

run_ids    the run id of a job, out of its id and its start
"""
