"""Any PySpark program's lineage, without touching the program.

    capture       `Capture`: listens to sessions, and ends when the program does
    listeners     what Spark calls; it only leaves notes
    watcher       the thread that works through the notes, in order
    application   the parent run, and what all runs of a program share
    action        one query execution: what it read and wrote
    running       executions that are at work, from Spark's own list
    held          executions that turn out to be parts of others
    stream        one streaming query, from its start to its end
    reading       relations as datasets
    writing       what a plan writes, as datasets; changes: commands that change a table and no rows
    columns       column lineage of an action or a stream
    figures       how much an action read and wrote, and which versions of tables it made

Nothing here can fail the program: all of it goes through a `Guard`.
"""
