"""Pipelines: declared in YAML, run by Spark through PySpark, reported as OpenLineage events.

From a file to a spec:

    check        parses and validates a pipeline file into a spec, before Spark starts
    checking     the steps of that
    spec         the spec's types; terms: the kinds of text and number in it
    lint         warnings about valid files; lint_rules: its rules
    sql_text     static analysis of Spark SQL, without Spark
    environment  secrets from environment variables

A run:

    run          runs a pipeline once, from its start to its last event
    execution    a run's identity, shared by all its parts
    work         the work, on a thread of its own; batch: of a batch; stream: of a stream
    frames       inputs and steps as data frames, in the file's order
    stop         stopping a run from outside
    reporting    the run's lineage events

Inputs, steps, outputs:

    sources      inputs as data frames
    processors   steps, from data frame to data frame
    sinks        data frames to outputs

External systems:

    java         the Java that Spark runs on; session: Spark; printed: files for its output
    catalogs     Iceberg catalogs; tables: names of tables
    kafka        topics, in and out
    http         APIs, in and out
    jdbc         databases, in and out
    s3           buckets, in and out
"""
