"""Keep events and facts, in SQLite or PostgreSQL.

A store, whichever database keeps it:

    opening       a store by its path or URL
    store         the log first, facts behind it; waiting: facts whose events are in the log already
    writer        group commit in front of it
    lent          a store that another process writes to
    memory        a store without a file, for a past
    opened        what every open store can do
    entries       what goes into the log and what comes out

What is asked of it:

    reader        all that can be asked, on a connection of its own; bounded: that connection
    log_reader    of the log
    facet_reader  of facets
    until         of what was there at some time

How things lie in the database:

    schema        the tables, in each shape that they had; migrations: bringing a database forward
    tables        one kind of fact, one table: rows
    merges        how two rows merge, in SQL; merged: facts merged into their tables
    numbers       the numbers that stand for names and runs
    packing       raw bytes as frames
    tree          the Merkle tree over the log

The two databases:

    connection    what is asked of a database; bulk: many rows in one statement
    attempts      what failed is not tried again at once
    sqlite        the store in a file
    postgres      the store that several services share; postgres_connection: that comes back after it was lost
    postgres_sql  what SQL PostgreSQL is told otherwise; postgres_url: where it is

What is done with a whole store:

    segments      files of raw events that were moved out of the database; retiring: moving them
    erasing       a facet of an event goes for good
    backup        a copy of a SQLite store as it is, while a service writes to it
    copying       from one store to another
"""
