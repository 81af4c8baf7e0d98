"""Real components on one machine, for trying things out and for tests: `headwater lab up kafka`.

    part          what a part is: its command, port, configuration, and how one sees that it is ready
    kafka         the parts of the lab `kafka`: broker, schema registry, Connect, S3 with Glue
    flink         the parts of the lab `flink`: a session cluster
    trino         the lab `trino`: Trino over Iceberg tables in the lab's own Glue and S3
    jars          what Maven fetches for a part
    environments  the Python environment of a part that needs one of its own
    once          both are put into a folder once, and again when what they are to be has changed
    processes     processes of a part: start, find, stop; who has a port
    lab           all of it together: up, status, down

A part's processes are known by a variable in their environment, so that whatever an earlier start left, however it
ended, is found again. All data, logs and figures of a part are in one folder, HEADWATER_HOME/lab/PART.
"""
