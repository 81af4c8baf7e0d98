"""Routes: each reads its parameters, calls one function and answers. One file a resource.

Writes:

    intake      events, one or many
    writes      datasets, jobs and runs put over the API
    edits       edits by users: owners, tags, deletions

Marquez's resources:

    namespaces  namespaces; sources: where datasets are kept
    datasets    datasets under any of their names; jobs: jobs; runs: runs
    tags        tags on jobs, datasets and columns
    search      search by name; stats: counts by the hour or day; events: events as they came
    lineage     the graph around a node
    graphql     the graph, by GraphQL queries

Questions:

    questions   impact of a change, root cause of a wrong output, gaps, schema drift
    diff        changes between two times or two runs
    evidence    why names are one dataset, quality over time, control flow, silent streams

The service itself:

    overview    a summary, and a stream of changes
    log         checkpoints, tiles and proofs; nodes: completeness of nodes' records; keys: the key directory
    access      API keys and roles; actions: the audit trail of users' actions
    health      health check and metrics

parameters  parameters shared by several routes
"""
