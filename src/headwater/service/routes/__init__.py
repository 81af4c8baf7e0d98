"""From requests to views: a route reads its parameters, calls one function and answers. One file a resource.

What comes in:

    intake      events, one or many
    writes      datasets, jobs and runs that are put over the API
    edits       what no event can say: owners, tags, what is deleted

Resources as Marquez has them:

    namespaces  their list; sources: where datasets are kept
    datasets    under any of their names; jobs: jobs; runs: runs
    tags        words on jobs, datasets and columns
    search      by a part of a name; stats: by the hour or day; events: each as it came
    lineage     the graph around a node
    graphql     the same, as a query asks for it

Questions:

    questions   what a change reaches, why an output is wrong, what is missing
    diff        what is different
    evidence    why names are one, quality over time, what waits for what, who is silent

The service itself:

    overview    the whole at a glance, and a stream of changes
    log         its head, its tiles, proofs; nodes: whose records are whole; keys: the key directory
    access      who may come in; actions: who did what
    health      whether it works

parameters  what several routes take
"""
