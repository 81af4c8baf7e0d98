"""A run's lineage, as OpenLineage events.

    observer        the interface that the execution calls: `Observer`, and `NullObserver` for runs without lineage
    reporter        emits the events; it can never fail the run
    background      the `Observer` that runs a reporter on a thread of its own
    job             facets of the job and the run
    datasets        names and facets of inputs and outputs, from the pipeline file; `sources` has all of a run
    tables          the same for Iceberg tables, from their catalog
    merged_outputs  a dataset that several outputs write
    snapshots       versions of Iceberg tables that the run made
    run_figures     all figures of a run
    streams         progress of streaming queries
    topics          topics as datasets

Code that is not specific to pipelines is in the room `observe`.
Imported only if lineage is on, since importing the OpenLineage client takes half a second.
"""
