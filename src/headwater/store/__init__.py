"""Keep events and facts, in SQLite.

entries   what goes into the log and what comes out
schema    the tables
tables    one kind of fact, one table: rows, merges in SQL
numbers   the numbers that stand for names and runs
packing   raw bytes as frames
bulk      many rows in one statement
sqlite    the store: the log first, facts behind it
memory    a store without a file, for a past
reader    what can be asked of it, on a connection of its own
writer    group commit in front of it
"""
