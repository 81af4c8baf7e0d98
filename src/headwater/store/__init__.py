"""Keep events and facts, in SQLite or PostgreSQL.

A store, whichever database keeps it:

    opening       opens a store by its path or URL
    store         writes the log first, facts after it; backlog: facts not yet written
    writer        group commit in front of it
    read_side     reads a store that another process writes to
    temporary     a store of some events, for a past
    opened        what every open store offers
    entries       log entries, going in and coming out

Reading it:

    reader        all queries, on a connection of its own; bounded: that connection, with an optional time limit
    log_reader    queries of the log
    facet_reader  queries of facets
    until         queries as of a time; few_facts: facets of a few runs, without a store

The layout of the database:

    schema        the tables, in every version; migrations: upgrading a database
    tables        one table per kind of fact: rows
    merges        how two rows merge, in SQL; merged: merging facts into their tables
    numbers       surrogate keys of names and runs
    packing       compression of raw bytes
    tree          the Merkle tree over the log

The two databases:

    connection    the interface to a database; bulk: many rows in one statement
    backoff       no immediate retry after a failure
    sqlite        the store in a file
    postgres      the store that several services share; postgres_connection: reconnects after a loss
    postgres_sql  rewrites SQL for PostgreSQL; postgres_url: its address

Operations on a whole store:

    segments      files of raw events moved out of the database; retiring: moving them
    erasing       erases a facet of an event for good
    backup        a consistent copy of a SQLite store, while a service writes to it
    copying       from one store to another
"""
