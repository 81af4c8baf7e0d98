"""Fold facts into a graph and walk it. Pure: no clock, no network, no disk.

From facts to a graph:

    fold              one merged fact per key
    run_events        which few of a run's events have the same merged facts as all of them up to any time
    records           the records of a run, a job, a dataset, an edge
    state             the graph's records, by name
    growth            how each fact updates the records
    job_edges         counted edges of jobs; evidence: counted evidence of columns; declared: content of declarations
    columns           column edges parsed from facets; column_edges: the same as integers; structs: nested columns
    semantic_digests  digests of facets' content, independent of the producer
    edits             the edits that people made over the API; tags: tags set by people and reported by producers
    nodes             the chain of each node's events, and inconsistencies in it
    lineage           the graph itself: its queries
    counts            the numbers of its jobs, datasets, edges and others

Names:

    identity   names of the same dataset, and the evidence; catalogs: names of the same table of a catalog
    mending    corrections of what producers report wrongly

Walks:

    walk       the neighbourhood of a node; column_walk: the columns upstream and downstream of a column
    flow       the datasets that a dataset is derived from, and how that is known; derived: those without a known job
    ends       inputs and outputs of a run, including those reported only for its job
    path       the data's path through a job or dataset, edge by edge; column_path: into a column
    control    the jobs that run before and after a job; no data need pass

Questions:

    impact     the columns, datasets and jobs that a change reaches, and whether they break
    causes     why an output is wrong: what changed upstream
    coverage   known gaps
    drift      the differences between two versions of a schema, and whether they break readers
    diff       the differences between two graphs, and the event that made each
    past       the graph as it was at a time, derived from the current one

Plans of engines:

    sparkplan  column lineage of a Spark plan
    flinkplan  column lineage of a Flink statement's plan
"""
