"""The vocabulary of Headwater: names, events, facets, facts. Pure.

Of our own packages it imports `errors`, and `sql` for events that carry a statement.

From bytes to facts:

    events        the three OpenLineage events, parsed from the received bytes, which they retain
    strict_json   JSON as an event must be
    outline       the positions of an event's facets, found without parsing them
    plain         the fast path for ordinary events; wire: validation of all others, with the path of a fault
    facet_texts   facets as written, each text parsed once
    facets        facets as typed views
    objects       lists in facets that no view has validated
    extract       an event's facts
    flow_facts    facts of explicit lineage and job dependencies; identity_facts: facts about names
    facts         the kinds of facts
    merging       base classes for the merging of facts
    edits         settings that people make over the API and no event can express

Names:

    names         of datasets, jobs and columns, and their node ids
    naming        a dataset's name from a data source's address; naming_jdbc: from a JDBC URL
    spelling      equivalent spellings of names
    addresses     of web servers, and those that Java can parse; credentials: strips secrets from addresses
    sql_secrets   hides secrets in SQL texts
    tls           error messages for untrusted certificates
    sources       finds whether a facet names sources of data
    catalogs      kinds of catalogs
    run_ids       ids of runs
    words         text for people, and checks of their own

Corrections and conversions of single producers' events:

    trino         Trino
    expectations  Great Expectations
    iceberg       Iceberg's metadata columns
    folders       sources that name files where a folder was read
    sql_lineage   a statement's lineage as facets, and dashboards in the graph

Our own events:

    build         events built with the official client's classes; slim: without these
    declared      events for what was put over the API
    nodes         the reports of a node about itself; heartbeat: the node's own jobs
    producer      Headwater as a producer

Building blocks:

    value         immutable dataclasses
    digest        SHA-256 digests as text
    times         text outside, microseconds inside
    numbers       whole numbers in queries and paths
"""
