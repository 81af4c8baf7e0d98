"""From knowledge to the JSON of answers: one file a resource, every function pure apart from reading the store.

Marquez's resources:

    jobs        inputs, outputs and newest runs; runs: state, times, datasets
    datasets    columns, newest facets, versions
    namespaces  namespaces of jobs and datasets; sources: where datasets are kept
    tags        tags and what they are on
    search      jobs and datasets by a part of a name
    stats       counts by the hour or day
    names       names and facets, as all of these write them

The graph around a node:

    lineage     jobs and datasets; lineage_nodes: rendering of each; columns: column lineage
    flow        which datasets a dataset is made from
    neighbours  direct neighbours of a job or dataset; path: data flow through it
    upstream    which runs made what a run read
    control     job dependencies; containment: parent and child jobs

Questions:

    impact      what a change reaches; checks: which columns jobs check
    causes      root cause of a wrong output
    diff        what changed; diff_runs: runs that may have reported it; both_sides: what the two graphs know of it
                diff_answer: its JSON
    drift       schema changes
    coverage    known gaps; silence: streams that have fallen silent
    identity    which names are one dataset, and why
    quality     latest data quality; timeline: over time

The service itself:

    counts      sizes of the graph, and the quarantine
    log         reads of the log itself
    nodes       the edge machines
"""
