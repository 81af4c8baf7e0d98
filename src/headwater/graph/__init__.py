"""Fold facts into a graph and walk it. Pure: no clock, no network, no disk.

From facts to a graph:

    fold       one merged fact a key
    enough     of many events a few that say together what all of them say
    records    what the graph keeps of a run, a job, a dataset, an edge
    growth     how facts become a graph: each adds to these
    known      what is known of jobs, runs and datasets, by name
    job_edges  edges of jobs, counted; evidence: evidence of columns, counted; declared: what a declaration says
    columns    column edges out of facets; column_edges: the same kept as numbers; structs: columns inside others
    sayings    what facets say, whoever says it
    edits      what people said over the API; tags: which are on what, by people and by producers
    nodes      the nodes' records, and what does not fit in them
    lineage    the graph itself: what may be asked of it
    counts     how much it holds

Names:

    identity   which names are one dataset, and why; catalogs: which are one table of a catalog
    mending    what producers got wrong and the evidence puts right

Ways through it:

    walk       what lies around a node; column_walk: what feeds a column, and what it feeds
    flow       which datasets a dataset is made from, and how that is known; derived: where no job is known to do it
    ends       what a run reads and writes, be it that only its job is said to
    path       the way of the data through a job or dataset, edge by edge
    control    which jobs come before and after a job; no data need pass

Questions:

    impact     what a change reaches, and whether it breaks there
    causes     why an output is wrong: what changed upstream
    coverage   gaps that are known
    drift      what is different between two versions of a schema, and whether it breaks who reads them
    diff       what is different between two graphs, and which event made it so
    past       the graph as it was at a time, out of that of now

Plans of engines:

    sparkplan  the column graph of a Spark plan
    flinkplan  the column graph of a statement of Flink's
"""
