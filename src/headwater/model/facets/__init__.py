"""Facets as typed views, parsed from a mapping of facets; members that a view does not know are preserved.

    view           the base of views; `readable` returns the readable parts of a facet, `read` validates all of it
    lenient        validation that drops unreadable parts of a facet
    run            nominalTime, errorMessage, processing_engine, … of a run
    job            jobType, sql, sourceCode, sourceCodeLocation of a job
    dataset        schema, symlinks, version, … of a dataset
    about          documentation, ownership and tags, which several entities have
    quality        assertions and metrics of a dataset's data, tests of a run
    counts         numbers of rows, files and bytes, which some producers report as text
    input_output   statistics and Iceberg's reports of one read or one write
    own            headwater_run, expanso_run (counters), headwater_subject, signature, a node's chain and heartbeat

    if (schema := SchemaFacet.readable(dataset.facets)) is not None: …

    match SchemaFacet.read(dataset.facets):
        case SchemaFacet(fields=fields): …
        case Unreadable() as fault: log.warning("facet is not what it should be", extra={"fault": str(fault)})

A facet has a view if something reads it as one; what the graph is folded from (`columnLineage`, `lineage`, `parent`,
`jobDependencies`, `catalog`) is read where it is folded.

Required is only what the standard requires and the rest says nothing without; not even `_producer` and `_schemaURL`:
real producers leave them out.
"""
