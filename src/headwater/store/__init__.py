"""Keep events and facts, in SQLite.

entries   what goes into the log and what comes out
schema    the tables
tables    one kind of fact, one table: rows, merges in SQL
sqlite    the store: add in one transaction
memory    a store without a file, for a past
reader    what can be asked of it, on a connection of its own
writer    group commit in front of it
"""
