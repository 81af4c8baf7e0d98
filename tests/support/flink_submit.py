"""Submits SQL jobs to a Flink cluster; runs in the lab's Python for Flink.

    python flink_submit.py http://127.0.0.1:8091 < jobs.json      # {"tables": [SQL…], "jobs": {NAME: SQL}}

Prints the id of each job as JSON. All are submitted by one process, since starting PyFlink takes most of the time.
"""

import json
import os
import sys
from urllib.parse import urlsplit

os.environ["_python_worker_execution_mode"] = "process"  # noqa: SIM112  no server for Python functions: there are none

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

if __name__ == "__main__":
    cluster, work = urlsplit(sys.argv[1]), json.load(sys.stdin)
    settings = Configuration()
    for name, value in {
        "execution.target": "remote",
        "execution.attached": "false",
        "rest.address": cluster.hostname,
        "rest.port": str(cluster.port),
        "parallelism.default": "1",
        "execution.checkpointing.interval": "1 s",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1",
        "restart-strategy.fixed-delay.delay": "1 s",
    }.items():
        settings.set_string(name, value)
    tables = TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(settings).build())
    for table in work["tables"]:
        tables.execute_sql(table)
    ids = {}
    for name, sql in work["jobs"].items():
        tables.get_config().set("pipeline.name", name)
        ids[name] = str(tables.execute_sql(sql).get_job_client().get_job_id())
    sys.stdout.write(json.dumps(ids))
