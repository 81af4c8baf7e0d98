"""Runs a program or a file of SQL, and writes down what each job that it submits reads and writes.

__main__    `python -m headwater_probe`: the settings in, lines of JSON out
cluster     has everything that is executed go to a session cluster
script      a file of SQL as statements with their lines
run_script  executes a file of SQL
hooks       listens to a program's own calls of PyFlink
report      lines of JSON to the parent
noted       one statement: where it writes, and the planner's tree
tree        the planner's tree as JSON
tables      a table as JSON: its options without secrets, its columns, where it lies
java        Java collections and fields, through py4j

A line is an object with `event`: `job` (an id of Flink's and what was noted of its statements), `say` (progress) or
`refused` (what is wrong with the file, and in which line).
"""
