"""Fold facts into a graph and walk it. Pure: no clock, no network, no disk.

fold       one merged fact a key
records    what the graph keeps of a run, a job, a dataset
identity   which names are one dataset, and why; catalogs: which are one table of a catalog
edits      what people said over the API; tags: which are on what, by people and by producers
spelling   spellings of one name that mean the same
mending    what producers got wrong and the evidence puts right
columns    column edges out of facets
column_edges  the same kept as numbers
known      what is known of jobs, runs and datasets, by name
job_edges  edges of jobs, counted; evidence: evidence of columns, counted; declared: what a declaration says
growth     how facts become a graph: each adds to these
lineage    the graph itself: what may be asked of it
cut        the graph as it was at a time, out of that of now; cut_facets: what it says of facets
again      what of it is folded again; lazy: made when asked
flow       which datasets a dataset is made from, and how that is known
control    which jobs come before and after a job; no data need pass
walk       what lies around a node; walk_by: what lay around it; column_walk: what feeds a column, and what it feeds
impact     what a change reaches, and whether it breaks there
causes     why an output is wrong: what changed upstream
coverage   gaps that are known
diff       what is different between two graphs; told: what single events tell of that; did: which event did it
regrouped  which event made names one dataset; holders: by whom an element is in a graph
sparkplan  the column graph of a Spark plan
"""
