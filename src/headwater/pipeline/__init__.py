"""Pipelines: declared in YAML, run by Spark through PySpark, told as OpenLineage events.

From a file to a spec:

    check        a pipeline file → its spec, checked whole before Spark starts
    checking     the steps of that
    spec         what comes out, as typed values; terms: the kinds of text and number in it
    lint         what checks, but would be better otherwise; lint_rules: its rules
    sql_text     what can be said of Spark SQL without Spark
    environment  secrets, by their environment variables

A run:

    run          a checked pipeline once, from its start to its last event
    execution    what all parts of a run need to know about it
    work         what it does, on a thread of its own; batch: of a batch; stream: of a stream
    frames       inputs and steps as data frames, in the file's order
    stop         stopping it from outside
    telling      what it tells about itself

Inputs, steps, outputs:

    sources      inputs as data frames
    processors   steps, from data frame to data frame
    sinks        data frames to outputs

What they talk to:

    java         the Java that Spark runs on; session: Spark; printed: what it prints
    catalogs     Iceberg catalogs; tables: names of tables
    kafka        topics, in and out
    http         APIs, in and out
    jdbc         databases, in and out
    s3           buckets, in and out
"""
