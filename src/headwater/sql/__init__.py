"""Column lineage of an SQL statement, by its text alone; pure.

columns          the entry point: a statement's tables and columns
reading          parses text into one statement, within bounds that hold for any text
identifiers      names that are given as texts or by position, and sources without a name
flat             tables under flat names, and their columns in the statement's spelling
width            bounds the columns that stars and joins expand to
rewriting        UPDATE, MERGE, INSERT, CREATE … AS, DELETE → queries with the same column lineage
names            resolution of unqualified names, by dialect
query_lineage    a query → the inputs of each output column
outputs          output columns with their inputs, and how set operations combine them
transformations  an expression → its columns, each with its transformation
label            the dashboard named in a comment
"""
