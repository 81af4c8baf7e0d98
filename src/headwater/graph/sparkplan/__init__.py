"""Column lineage from Spark's analysed plan, as `queryExecution.analyzed().toJSON()` writes it. Pure Python.

    plan            the JSON as a tree of operators; subqueries are trees of their own
    leaves          the relations a plan reads, for the caller to name
    transformation  how an input column reaches an output: OpenLineage's types and subtypes
    inputs          sets of input columns by transformation, and how they compose
    scope           what one operator hands up: its columns with their inputs, and what decides its rows
    payloads        the fields of a topic's records, where a stream parses them
    functions       one rule a function: CASE, aggregates, windows, subqueries ...
    expressions     the inputs of one expression
    operation       one operator, as its rule sees it
    relational      one rule an operator: Project, Join, Aggregate ...
    writes          rules for commands: INSERT, CREATE TABLE AS, MERGE ...
    splice          a plan that reads rows which another plan has made, as one
    bottom_up       walks the tree and applies the rules
    lineage         the whole: `column_lineage`

Start at `lineage.column_lineage`.
"""
