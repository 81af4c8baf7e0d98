"""What a run tells about itself, as OpenLineage events.

    observer     what the execution calls: `Observer`, and `Silent` for runs without lineage
    teller       emits the events; nothing it does can fail the run
    aside        the `Observer` that has a teller work while the pipeline goes on
    job          facets of the job and the run
    datasets     names and facets of inputs and outputs, from the pipeline file; `sources` has all of a run
    tables       the same for Iceberg tables, from their catalog
    twice        a dataset that several outputs write
    snapshots    versions of Iceberg tables that the run made
    accounts     all figures of a run
    streams      progress of streaming queries
    topics       topics as datasets

What is not a pipeline's own is in the room `observe`.
Imported only where lineage is on, since the OpenLineage client takes half a second to import.
"""
