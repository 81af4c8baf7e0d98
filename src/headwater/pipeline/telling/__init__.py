"""What a run tells about itself, as OpenLineage events.

    observer     what the execution calls: `Observer`, and `Silent` for runs without lineage
    teller       emits the events; nothing it does can fail the run
    aside        the `Observer` that has a teller work while the pipeline goes on
    lifecycle    the order of a run's events, and their times
    job          facets of the job and the run
    datasets     names and facets of inputs and outputs, from the pipeline file
    tables       the same for Iceberg tables, from their catalog
    relations    what the relations of a plan read, asked of the JVM
    columns      column lineage of an output's frame
    executions   Spark's query executions: rows, bytes and files that they read and wrote
    snapshots    versions of Iceberg tables that the run made
    accounts     all figures of a run; `tally` has the sums
    streams      progress of streaming queries

Imported only where lineage is on, since the OpenLineage client takes half a second to import.
"""
