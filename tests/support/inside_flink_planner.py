"""Runs in Flink's own Python: statements on standard input, the planner's trees on standard output."""

import json
import os
import sys
from types import SimpleNamespace

os.environ["_python_worker_execution_mode"] = "process"  # noqa: SIM112  (PyFlink's own name)
from headwater_probe.script import statements
from headwater_probe.statement_writes import parsed, writes
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.udf import udtf

request = json.load(sys.stdin)
environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
for declaration in statements(request["tables"]):
    environment.execute_sql(declaration.text)
sys.modules["cloudpickle"] = SimpleNamespace(dumps=lambda _: b"")  # type: ignore[assignment]  # the planner does not need the function's body
environment.create_temporary_function("words_of", udtf(lambda *_: [], result_types=["STRING", "INT"]))
java = environment._j_tenv
trees = {}
for name, sql in request["statements"].items():
    try:
        (trees[name],) = (write.tree for write in writes(java, parsed(java, sql)))
    except Exception as refused:
        sys.exit(f"{name}: {str(refused)[:1500]}")
print(json.dumps(trees))  # noqa: T201
