"""From knowledge to the shapes that go out: one file a resource, every function pure but for reading the store.

Resources as Marquez has them:

    jobs        what they read and write, and their newest runs; runs: what they did, when, on what
    datasets    columns, newest facets, versions
    namespaces  those that jobs and datasets are in; sources: where datasets are kept
    tags        which words are on what
    search      jobs and datasets by a part of a name
    stats       what happened, by the hour or day
    names       names and times, as all of these write them

The graph around a node:

    lineage     jobs and datasets; lineage_nodes: each of them rendered; columns: columns
    flow        which datasets a dataset is made from
    neighbours  what is next to a job or dataset; path: the way of the data through it
    upstream    which runs made what a run read
    control     which jobs wait for which; containment: which are parts of which

Questions:

    impact      what a change reaches; checks: which columns jobs check
    causes      why an output is wrong
    diff        what is different; diff_runs: which runs may have told it; both_sides: what either graph knows of that
                diff_answer: as it goes out
    drift       schemas that changed
    coverage    gaps that are known; silence: streams that have fallen silent
    identity    which names are one dataset, and why
    quality     how data fared last; timeline: over time

The service itself:

    counts      the graph in numbers, and what is in quarantine
    log         what the log tells beyond the graph
    nodes       the edge machines
"""
