"""Real components on one machine, for trying things out and for tests: `headwater lab up kafka`.

    part          the definition of a part: its command, port, configuration, and readiness check
    kafka         the parts of the lab `kafka`: broker, schema registry, Connect, S3 with Glue
    flink         the parts of the lab `flink`: a session cluster
    trino         the lab `trino`: Trino over Iceberg tables in the lab's own Glue and S3
    jars          a part's jars, fetched by Maven
    environments  the Python environment of a part that needs one of its own
    once          installs jars and environments once, and again when their definition has changed
    processes     processes of a part: start, find, stop; the owner of a port
    lab           a whole lab: up, status, down

A part's processes are found by a variable in their environment, so that those of an earlier start are found too,
however it ended. All data, logs and figures of a part are in one folder, HEADWATER_HOME/lab/PART.
"""
