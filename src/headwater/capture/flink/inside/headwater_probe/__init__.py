"""Runs a program or a file of SQL, and reports what each job that it submits reads and writes.

__main__    `python -m headwater_probe`: settings as arguments, JSON lines out
cluster     makes PyFlink submit to a session cluster
script      splits a file of SQL into statements with their lines
run_script  executes a file of SQL
hooks       wraps PyFlink's methods, to see a program's own calls
report      JSON lines to the parent process
statement_writes   the lineage of one statement: its target, and the planner's tree
tree        the planner's tree as JSON
tables      a table as JSON: its options without secrets, its columns, its location
java        Java collections and fields, through py4j

A line is an object with `event`: `job` (Flink's job id and the lineage of its statements), `say` (progress) or
`refused` (what is wrong with the file, and in which line).
"""
