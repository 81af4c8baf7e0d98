"""Column lineage from the tree that Flink's planner makes of a statement. Pure Python.

    scope        what one operator hands up: its columns with their inputs, and what decides its rows
    walk         what the rules share: leaves, gaps, the rows that subqueries refer to
    expressions  the inputs of one expression
    functions    one rule a function: CASE, masking, aggregates ...
    operation    one operator, as its rule sees it
    relational   one rule an operator: Project, Join, Aggregate ...
    windows      rules for windows in time, patterns in rows, and functions that make tables
    bottom_up    walks the tree and applies the rules
    lineage      the whole: `column_lineage`

What inputs are, and how they compose, is `sparkplan.inputs` and `sparkplan.transformation`: both engines speak of one
thing. The tree's JSON is described where it is written, in `capture/flink/inside/headwater_probe/tree.py`; columns are
positions in it, so nothing is told apart by name but a table's own columns.
"""
