"""What a statement of SQL reads and writes, column by column, by its text alone; pure.

reading      text → one parsed statement, within bounds that hold for any text
rewriting    UPDATE, MERGE, INSERT, CREATE … AS, DELETE → the queries that say the same of columns
flow         a query → what each of its columns is made from
ways         an expression → its columns, and how each takes part
columns      all of it: a statement's tables and columns
label        the dashboard that a comment names
"""
