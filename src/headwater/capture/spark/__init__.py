"""The lineage of any PySpark program, without changing the program.

    capture       `Capture`: listens to sessions until the program ends
    listeners     Spark's callbacks; they only queue notes
    watcher       the thread that processes the notes, in order
    application   the parent run, and what all runs of a program share
    action        one query execution: what it read and wrote
    running       executions in progress, from Spark's own list
    pending       executions that may turn out to be parts of others
    stream        one streaming query, from its start to its end
    reading       relations as datasets
    writing       the targets of a plan, as datasets; changes: commands that change a table and no rows
    columns       column lineage of an action or a stream
    figures       how much an action read and wrote, and which versions of tables it made

Nothing here can fail the program: all of it goes through a `Guard`.
"""
