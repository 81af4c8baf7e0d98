"""What Headwater knows of the world: names, events, facets, facts. Pure.

Of our own it imports `errors`, and `sql` where an event tells a statement.

From bytes to facts:

    events        the three OpenLineage events, read from the bytes that came and kept beside them
    strict_json   JSON as an event must be
    outline       where an event's facets stand, cut out without reading them
    plain         events as nearly all are, read the short way; wire: all others, and what is wrong with them
    facet_texts   facets as they were written, each text read once
    facets        facets as typed views
    objects       lists in facets that no view has checked
    extract       an event's facts
    flow_facts    those of explicit lineage and of dependencies of jobs; identity_facts: those of names
    facts         what the kinds of facts are
    merging       how facts merge
    edits         what people say over the API that no event can say

Names:

    names         of datasets, jobs and columns, and how a node id writes them
    naming        how a data source's address becomes a dataset's name; naming_jdbc: a JDBC URL's
    spelling      spellings of one name that mean the same
    addresses     of web servers, and those that Java can read; credentials: what of them must not be shown
    tls           a server whose certificate is not trusted, in words
    sources       where a facet says that data comes from
    catalogs      kinds of catalogs
    run_ids       ids of runs
    words         words for people, and what they are asked for in their own

What single producers mean by their events:

    trino         Trino
    expectations  Great Expectations
    iceberg       Iceberg's metadata columns
    folders       columns from files, where the folder was read
    sql_lineage   a statement's lineage as facets, and how dashboards stand in the graph

What we tell ourselves:

    build         events of our own, by the official client's classes; slim: without these
    declared      what was put over the API, as events
    nodes         what a node says of itself; heartbeat: the jobs in whose name
    producer      who we are in an event

What all of these are made of:

    value         dataclasses that nobody changes
    digest        SHA-256 digests as text
    times         text outside, microseconds inside
"""
