"""What a statement of SQL reads and writes, column by column, by its text alone; pure.

reading      text → one parsed statement, within bounds that hold for any text
flat         its tables under flat names, and their columns as the statement calls them
width        how much its stars and joins stand for
rewriting    UPDATE, MERGE, INSERT, CREATE … AS, DELETE → the queries that say the same of columns
names        what a name without a table's may mean, by dialect
flow         a query → what each of its columns is made from
made         what an answer's columns are made from, and what UNION and its like make of several answers
ways         an expression → its columns, and how each takes part
columns      all of it: a statement's tables and columns
label        the dashboard that a comment names
"""
