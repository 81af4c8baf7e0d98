"""Keep events and facts, in SQLite or PostgreSQL.

entries     what goes into the log and what comes out
schema      the tables, in each shape that they had; migrations: bringing a database forward
tables      one kind of fact, one table: rows       merges        how two rows merge, in SQL
numbers     the numbers that stand for names and runs
packing     raw bytes as frames
connection  what is asked of a database   bulk          many rows in one statement
reader      what can be asked of the store, on a connection of its own; opened: that of an open store, and others
store       the log first, facts behind it          waiting       facts whose events are in the log already
writer      group commit in front of it             lent          a store that another process writes to
sqlite      the store in a file           memory        a store without a file, for a past
postgres    the store that several services share, over postgres_connection; postgres_sql is what SQL it is told
            otherwise, postgres_url where it is
tree        the Merkle tree over the log
segments    files of raw events that were moved out of the database; retiring: moving them
erasing     a facet of an event goes for good
opening     a store by its path or URL    copying       from one store to another
"""
