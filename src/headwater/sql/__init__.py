"""What a statement of SQL reads and writes, column by column, by its text alone; pure.

reading          parses text into one statement, within bounds that hold for any text
flat             tables under flat names, and their columns in the statement's spelling
width            how many columns its stars and joins may expand to
rewriting        UPDATE, MERGE, INSERT, CREATE … AS, DELETE → queries with the same column lineage
names            what an unqualified name may mean, by dialect
flow             a query → the inputs of each of its columns
made             the inputs of an answer's columns, and how UNION and its like combine several answers
transformations  an expression → its columns, and how each takes part
columns          the whole: a statement's tables and columns
label            the dashboard that a comment names
"""
