"""The service's read model: graph, store, and the caches and indexes derived from both.

knowledge   graph and store together: which jobs, datasets and runs are known, by which names
mentions    the nodes that the facts of an event mention; touched: the nodes of a graph that they touch
changes     what an event changes: a snapshot before, a comparison after
derived_state  caches and indexes, updated or invalidated for each event
activity    a job's runs, newest first; activities: cached per job
run_intervals  runs by first and last event; runs_by_last_event: a job's runs by their last event
facet_views  facets parsed from content, cached
job_type    the type of a job
versions    the versions of a dataset and of a job
lifecycle   state changes of a whole dataset: created, dropped, renamed
gaps        what is known to be missing; verdicts: signature verdicts, counted
history     runs and datasets as the root-cause walk reads them; run_records: its cache
listing     a trigram index of names
render_cache  rendered parts of answers, cached; cache: caches bounded by memory
"""
