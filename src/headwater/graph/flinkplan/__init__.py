"""Column lineage from the logical plan that Flink's planner (Calcite) makes of a statement. Pure Python.

    scope        an operator's output: its columns with their inputs, and the inputs of its rows
    state        shared by the rules: tables, gaps, correlation variables
    expressions  the inputs of one expression
    functions    a rule per function: CASE, masking, aggregates ...
    operator     an operator with the scopes of its children, as passed to its rule
    relational   a rule per relational operator: Project, Join, Aggregate ...
    windows      rules for window functions, MATCH_RECOGNIZE and table functions
    bottom_up    walks the tree and applies the rules
    lineage      the entry point, `column_lineage`

Inputs and their composition are those of `sparkplan.inputs` and `sparkplan.transformation`. The tree's JSON is
documented where it is written, in `capture/flink/inside/headwater_probe/tree.py`. It references columns by position;
only the columns of tables have names.
"""
