"""Column lineage from Spark's analysed plan, as `queryExecution.analyzed().toJSON()` writes it. Pure Python.

plan            parses the JSON to a tree of operators; subqueries are trees of their own
leaves          the relations that a plan reads, for the caller to name
transformation  how an output uses an input column: OpenLineage's types and subtypes
inputs          sets of input columns by transformation, and how they compose
scope           an operator's output: its columns with their inputs, and the inputs of its rows
payloads        the fields of a topic's records, if a stream parses them
functions       a rule per function: CASE, aggregates, windows, subqueries ...
expressions     the inputs of one expression
operator        an operator with the scopes of its children, as passed to its rule
relational      a rule per relational operator: Project, Join, Aggregate ...
writes          rules for commands: INSERT, CREATE TABLE AS, MERGE ...
splice          replaces the rows that a plan reads by the query that produces them
bottom_up       walks the tree and applies the rules
lineage         the entry point, `column_lineage`
"""
